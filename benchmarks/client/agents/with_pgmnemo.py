"""The agent with this client: a folder is all that it needs."""

from pgmnemo import Memory


class Agent:
    def __init__(self, place):
        self.memory = Memory.open(place)

    def of(self, user):
        return self.memory.tenant(user).project("talks")

    def listen(self, user, turns):
        for role, text in turns:
            self.of(user).add(text, role=role)

    def recall(self, user, question):
        return [(hit.text, hit.why()) for hit in self.of(user).recall(question, k=3)]

    def replace(self, user, old, new):
        [stale] = self.of(user).recall(old, k=1)
        self.of(user).supersede(stale.key, self.of(user).add(new, role="user").key)

    def history(self, user, text):
        [found] = self.of(user).recall(text, k=1)
        return [step.text for step in self.of(user).timeline(found.key)]

    def forget(self, user):
        self.memory.tenant(user).forget(all_lessons=True)

    def close(self):
        self.memory.close()
