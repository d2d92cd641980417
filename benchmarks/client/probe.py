"""One process of `side_by_side.py`: lives through a part of the story with one agent, and prints what it saw.

    python probe.py PROGRAM PLACE PART BEGAN TURNS RECALLS

It runs in the environment of the agent's library and needs nothing but Python. PART is `first` (a new
memory), `again` (the memory after a restart), or `hold` (opens it, says so, and waits for the end of its
input). BEGAN is the time at which the process was started.
"""

import importlib.util
import json
import os
import sys
import time
from pathlib import Path
from uuid import UUID, uuid5

TALK = [
    ("user", "Good morning! I moved to Lisbon in May and I am still unpacking."),
    ("assistant", "Welcome! What is still in boxes?"),
    ("user", "Mostly books, and the cello that I play on Sundays."),
    ("assistant", "A cello wants air that is not too dry, so keep it away from the radiator."),
    ("user", "I am allergic to hazelnuts, so never suggest pralines to me."),
    ("assistant", "Noted: no hazelnuts in any recipe."),
    ("user", "My sister Ines visits on the 12th of June, and she eats vegetarian food only."),
    ("assistant", "Then a risotto with asparagus would suit both of you."),
    ("user", "I work as an archivist at the city museum, three days a week."),
    ("assistant", "That leaves you two weekdays for the cello."),
]
ASKED, OLD, NEW = "Which city did I move to?", TALK[0][1], "I have moved again, from Lisbon to Porto."
SECRET, ASKED_SECRET = "The code of my safe is 4711.", "What is the code of the safe?"
QUESTIONS = [
    ASKED, "Which instrument do I play?", "What am I allergic to?", "When does my sister visit?",
    "Where do I work?", "What does Ines eat?", "What is in my boxes?", "How many days a week do I work?",
]  # fmt: skip
# Names that may come from a request in which a user says who it is: wildcards, a prefix, and the uuid that
# pgmnemo makes of `eve` by a public rule.
OTHERS = ["*", "%", "_", "", "ev", "e_e", str(uuid5(UUID("3c2f5ee1-5d0c-5c5f-9a1f-6a3b6e1d7c55"), "eve"))]
SAMPLE = Path(__file__).resolve().parents[1] / "sample" / "sample.json"


def others():
    """Turns and questions of the committed sample's talks, which answer none of those here."""
    projects = json.loads(SAMPLE.read_text(encoding="utf-8"))
    turns = [turn for one in projects for session in one["sessions"] for turn in session["turns"]]
    asked = [question["question"] for one in projects for question in one["questions"]]
    return [("user", text) for text in turns + asked]


def timed(function, *given):
    """Milliseconds of one call, and its answer."""
    began = time.perf_counter()
    answer = function(*given)
    return (time.perf_counter() - began) * 1000, answer


def texts(answer):
    return [text for text, _ in answer]


def first(agent, began, turns, recalls):
    """A new memory: the talk, a question, a replacement, users beside each other, one that is forgotten."""
    added = [timed(agent.listen, "ada", [turn])[0] for turn in TALK]
    found = agent.recall("ada", ASKED)
    seen = {"first": time.time() - began, "added": added, "before": texts(found), "why": found[0][1]}
    agent.listen("ada", others()[: turns - len(TALK)])
    agent.replace("ada", OLD, NEW)
    seen["after"], seen["history"] = texts(agent.recall("ada", ASKED)), agent.history("ada", NEW)
    for user in ("eve", "bob"):
        agent.listen(user, [("user", SECRET)])
    seen["leaks"] = [name for name in OTHERS if SECRET in asked_as(agent, name)]
    agent.forget("bob")
    return seen


def asked_as(agent, name):
    """What a user of that name is told of the secret; nothing where the name is refused."""
    try:
        return texts(agent.recall(name, ASKED_SECRET))
    except Exception:
        return []


def again(agent, began, turns, recalls):
    """The memory after a restart: the same question, many more, and whoever was forgotten."""
    found = texts(agent.recall("ada", ASKED))
    seen = {
        "again": time.time() - began,
        "after": found,
        "forgotten": texts(agent.recall("bob", ASKED_SECRET)),
    }
    seen["kept"] = texts(agent.recall("eve", ASKED_SECRET))
    asked = [QUESTIONS[number % len(QUESTIONS)] for number in range(recalls)]
    seen["recalls"] = [timed(agent.recall, "ada", question)[0] for question in asked]
    return seen


def hold(agent, *_):
    """The memory is open until the input ends."""
    agent.recall("ada", ASKED)
    print(json.dumps({"holds": True}), file=OUT, flush=True)
    sys.stdin.read()
    return {}


def load_agent(program):
    """The class Agent of a program."""
    spec = importlib.util.spec_from_file_location("agent", program)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Agent


def main():
    program, place, part, *numbers = sys.argv[1:]
    began, turns, recalls = map(float, numbers)
    try:
        made = load_agent(program)
    except ImportError as error:
        print(json.dumps({"absent": str(error)}), file=OUT)
        return
    agent = made(place)
    seen = {"first": first, "again": again, "hold": hold}[part](agent, began, int(turns), int(recalls))
    print(json.dumps(seen), file=OUT, flush=True)
    agent.close()


if __name__ == "__main__":
    OUT = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # a library may print
    main()
