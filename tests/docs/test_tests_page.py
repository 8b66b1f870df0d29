"""The index from modules to tests: it agrees with the code, and every folder of tests is explained."""

from tools.tests_page import PAGE, START, TESTS, written

TEXT = PAGE.read_text(encoding="utf-8")


def test_the_index_is_that_of_the_code() -> None:
    assert written(TEXT) == TEXT, "run `python -m tools.tests_page`"


def test_every_folder_is_explained() -> None:
    explained = TEXT.partition(START)[0]
    folders = {path.parent.name for path in TESTS.glob("*/__init__.py")}
    assert {folder for folder in folders if f"`{folder}`" not in explained} == set()
