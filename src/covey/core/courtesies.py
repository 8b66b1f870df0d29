"""Courtesies: words that carry no information by themselves. A text of courtesies alone says nothing new."""

from typing import Final

_GRAMMAR: Final = """
a about all always am an and any anything are as at be been but by can could did do does don't else end everything for
from further get got had has have he her here hers him his how i i'd i'll i'm i've if in is it it's its just let let's
like may me might mine more much must my of on once or our out over please shall she should side so some soon such
than that that's the their them then there these they this those to too up us very was we we'd we'll we're we've were
what when which while who will with would you you'd you'll you're you've your yours
"""

_POLITENESS: Final = """
absolutely acknowledge acknowledged acknowledgement acknowledging affirmative again agree agreed agreement aligned
already alright amazing anytime appreciate appreciated appreciation assist assistance available await awaiting awaits
awesome best bye care certainly cheers clear collaborate collaborating collaboration confirm confirmation confirmed
confirming congratulations continue cool copy course day definitely delighted discussed done enjoy exactly excellent
excited exciting fantastic feel fine forward free glad good goodbye grateful great greatly happy hear hello help
helped helpful helping hesitate hey hi hope hoping indeed instructions keep kind know later likewise look looking
looks love lovely luck moving need needed next nice noted ok okay perfect perfectly pleasure posted proceed proceeding
progress question questions reach reached ready really receipt receive received regards rest right roger same see
seeing set smooth smoothly sound sounds standing stay steps success support supporting sure talk team terrific thank
thankful thanks things thrilled time together touch understood update updates wait waiting welcome well whenever
wonderful work worked working works worries worry wow yeah yep yes
"""

_ELSEWHERE: Final = """
danke dir gern gerne bitte merci rien gracias nada obrigado grazie prego 谢谢 不客气 好的 收到 ありがとう 了解
"""

COURTESIES: Final = frozenset(f"{_GRAMMAR} {_POLITENESS} {_ELSEWHERE}".split())
"""Function words of English, and the words of polite phrases, some of them in other languages."""
