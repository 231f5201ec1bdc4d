"""Fleet leases by the letter: a slow second table, written from the contract alone, to hold the real one against.

It keeps plain lists, looks at everything every time, and shares no code with what it judges.
"""

import re


def touching(kind, one, other):
    """Whether two values overlap."""
    if kind != "path_glob":
        return one == other
    left, right = (_fixed(value) for value in (one, other))
    shorter = min(len(left), len(right))
    return left[:shorter] == right[:shorter]


def _fixed(value):
    if re.search(r"(^|/)\.\.(/|$)", value):
        return ""
    before = None
    while before != value:
        before = value
        value = re.sub(r"//", "/", value)
        value = re.sub(r"^\./|^\.$", "", value)
        value = re.sub(r"/\./", "/", value)
        value = re.sub(r"/\.$", "", value)
    return re.sub(r"/+$", "", re.split(r"[*?\[{]", value)[0])


class ModelTable:
    """`leases` holds every lease ever granted, `waiting` the queue in order, `spent` what was released unclaimed."""

    def __init__(self, fence):
        self.fence = fence
        self.leases = []
        self.waiting = []
        self.spent = []

    def restart(self):
        """The authority comes up again: only the queue was not on the disk."""
        self.waiting = []

    def sweep(self, wall, now):
        for lease in self.leases:
            if lease["active"] and lease["expires"] < wall:
                lease["active"], lease["ended"] = False, wall
        self.waiting = [one for one in self.waiting if now - one["polled"] <= 30]

    def active(self):
        return [one for one in self.leases if one["active"]]

    def claim(self, ask, wall, now):
        """(outcome, fence, expiry, holder lease id, ahead). `ask` is a Claim; its waiter_id is one of this model."""
        self.sweep(wall, now)
        named = [one for one in self.leases + self.waiting if one["id"] == ask.lease_id]
        everyone = [one for one in self.spent if one["id"] == ask.lease_id and one["waited"]]
        if any(one["owner"] != ask.owner for one in named + everyone):
            return ("error", None, None, None, None)
        mine = [one for one in self.spent if (one["id"], one["owner"]) == (ask.lease_id, ask.owner)]
        if mine or any(not one.get("active", True) for one in named):
            return ("not_active", None, None, None, None)
        for one in named:
            if (one["kind"], one["value"], one["mode"]) != (ask.kind, ask.value, ask.mode):
                return ("error", None, None, None, None)
            if "active" in one:
                return ("granted", one["fence"], one["expires"], None, None)
        if ask.mode == "advisory":
            return self._grant(ask, wall)
        place = next((one for one in self.waiting if one["id"] == ask.lease_id), None)
        if ask.waiter_id is not None and (place is None or place["waiter"] != ask.waiter_id):
            return ("waiter_gone", None, None, None, None)
        patient = ask.wait or ask.waiter_id is not None
        if place is not None and patient:
            place["polled"] = now
        return self._judge(ask, place if patient else None, patient, wall, now)

    def _judge(self, ask, place, patient, wall, now):
        held = [one for one in self.active() if one["mode"] == "exclusive" and one["kind"] == ask.kind]
        blocking = [one for one in held if one["owner"] != ask.owner and touching(ask.kind, one["value"], ask.value)]
        before = self.waiting[: self.waiting.index(place)] if place is not None else self.waiting
        ahead = 0
        for other in before:
            if other["owner"] == ask.owner or other["kind"] != ask.kind:
                continue
            if not touching(ask.kind, other["value"], ask.value):
                continue
            waits_for_me = [one for one in held if one["owner"] == ask.owner]
            if any(touching(ask.kind, one["value"], other["value"]) for one in waits_for_me):
                continue
            ahead += 1
        if not blocking and not ahead:
            return self._grant(ask, wall)
        holder = None
        if blocking:
            latest = max(one["expires"] for one in blocking)
            holder, ahead = min(one["id"] for one in blocking if one["expires"] == latest), None
        if not patient:
            return ("conflict", None, None, holder, ahead)
        if place is None:
            kept = {"id": ask.lease_id, "owner": ask.owner, "kind": ask.kind, "value": ask.value, "mode": ask.mode}
            self.waiting.append(kept | {"polled": now, "waiter": f"model {len(self.leases)} {now} {ask.lease_id}"})
        return ("queued", None, None, holder, ahead)

    def _grant(self, ask, wall):
        self.waiting = [one for one in self.waiting if one["id"] != ask.lease_id]
        self.fence += 1
        lease = {"id": ask.lease_id, "owner": ask.owner, "kind": ask.kind, "value": ask.value, "mode": ask.mode}
        lease |= {"fence": self.fence, "ttl": ask.ttl_secs, "expires": wall + ask.ttl_secs, "active": True}
        self.leases.append(lease)
        return ("granted", self.fence, lease["expires"], None, None)

    def release(self, owner, lease_id, wall, now):
        """The outcome."""
        self.sweep(wall, now)
        named = [one for one in self.leases + self.waiting if one["id"] == lease_id]
        spent = [one for one in self.spent if one["id"] == lease_id and (one["waited"] or one["owner"] == owner)]
        if not named and not spent:
            self.spent.append({"id": lease_id, "owner": owner, "waited": False})
            return "not_found"
        if any(one["owner"] != owner for one in named + spent):
            return "not_owner"
        for one in named:
            if "active" not in one:
                self.waiting.remove(one)
                self.spent.append({"id": lease_id, "owner": owner, "waited": True})
                return "released"
            if one["active"]:
                one["active"], one["ended"] = False, wall
                return "released"
        return "not_active"

    def renew(self, owners, wall, now):
        self.sweep(wall, now)
        for one in self.active():
            if one["owner"] in owners:
                one["expires"] = wall + one["ttl"]

    def forget_ended(self, keep):
        """Drop the oldest ended ids beyond `keep`, so that long runs stay quick; the caller uses none of them again."""
        ended = [one for one in self.leases if not one["active"]]
        for one in ended[: max(0, len(ended) - keep)]:
            self.leases.remove(one)
        del self.spent[: max(0, len(self.spent) - keep)]
