"""The runner of snippets, tested on small pages: it must be able to fail."""

from pathlib import Path

import pytest

from tests.docs.snippets import Use, run_page, snippets


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return tmp_path / "page.md"


def run(page: Path, *blocks: str) -> int:
    """Run a page with these blocks."""
    page.write_text("# Page\n\n" + "\n".join(f"```python\n{block}\n```\n" for block in blocks), encoding="utf-8")
    return run_page(page, page.parent)


def test_blocks_share_their_names_and_may_await(page: Path) -> None:
    assert run(page, "import asyncio\nn = 1", "await asyncio.sleep(0)\nn += 1", "assert n == 2") == 3


def test_a_block_may_be_a_whole_program(page: Path) -> None:
    program = "import asyncio\nasync def main():\n    print('done')\nasyncio.run(main())\n# → done"
    assert run(page, "import asyncio; await asyncio.sleep(0)", program, "await asyncio.sleep(0)") == 3


def test_a_task_goes_on_from_block_to_block(page: Path) -> None:
    run(
        page,
        "import asyncio\ntask = asyncio.create_task(asyncio.sleep(0, 7))\nawait asyncio.sleep(0)",
        "print(await task)  # → 7",
    )


def test_a_false_assertion_fails_at_its_line_of_the_page(page: Path) -> None:
    with pytest.raises(AssertionError) as caught:
        run(page, "n = 1", "n += 1\nassert n == 1")
    assert (caught.traceback[-1].path, caught.traceback[-1].lineno + 1) == (page, 9)


def test_an_output_that_differs_from_the_page_fails(page: Path) -> None:
    run(page, "print('a1b')  # → a…b\nfor n in 1, 2:\n    print(n)\n# → 1\n# → 2")
    for wrong in ("print('a')  # → b", "print('a')", "# → a", "print('a\\nb')  # → a"):
        with pytest.raises(AssertionError, match="the page shows"):
            run(page, wrong)


def test_an_arrow_in_a_text_is_no_comment(page: Path) -> None:
    run(page, "text = '# → no'")


def test_a_task_left_behind_fails(page: Path) -> None:
    with pytest.raises(AssertionError, match="left tasks running"):
        run(page, "import asyncio\ntask = asyncio.create_task(asyncio.sleep(60))\nawait asyncio.sleep(0)")


def test_a_marked_block_is_a_file_or_is_left_out_with_its_reason(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(page.parent)
    page.write_text(
        "<!-- file: other.py -->\n```python\nn = 5\n```\n\n"
        "<!-- no-run: it needs a model -->\n```python\nboom\n```\n\n"
        "```python\nfrom pathlib import Path\nassert Path('other.py').read_text() == 'n = 5\\n'\n```\n",
        encoding="utf-8",
    )
    assert [(snippet.use, snippet.what) for snippet in snippets(page)] == [
        (Use.FILE, "other.py"),
        (Use.NO_RUN, "it needs a model"),
        (Use.RUN, ""),
    ]
    assert run_page(page, page.parent) == 1


@pytest.mark.parametrize("fence", ["```py", "```Python", "  ```python", "```python title=x", "```pycon", "~~~python3"])
def test_a_python_block_that_would_be_missed_is_an_error(page: Path, fence: str) -> None:
    page.write_text(f"{fence}\nboom\n{fence.strip()[:3]}\n", encoding="utf-8")
    with pytest.raises(ValueError, match="write ```python"):
        list(snippets(page))


def test_blocks_of_other_languages_are_left_alone(page: Path) -> None:
    page.write_text("```sh\nmake test\n```\n\n````text\n```python\nboom\n```\n````\n", encoding="utf-8")
    assert list(snippets(page)) == []
