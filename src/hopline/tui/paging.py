"""Reading what is not here: older lines come when the top is reached, and newer ones where those had to go for them."""

import asyncio

from hopline.errors import HoplineError
from hopline.tui.output_view import OutputView
from hopline.tui.reading import SAID_SECONDS, ReadingScreen
from hopline.tui.watching import Watching


class PagingScreen(ReadingScreen):
    """A reading screen over a run's panes.

    Args:
        watching: the run.
    """

    def __init__(self, watching: Watching) -> None:
        super().__init__()
        self.watching = watching
        self._again_at = 0.0

    def action_live(self) -> None:
        """To the newest, and follow."""
        pane = self.watching.panes.get(self._tab)
        if pane is not None and pane.parted is not None:
            pane.rejoin(self.watching.newest)
            self.draw()
        super().action_live()

    def keep_filled(self, now: float) -> None:
        """What is not here comes when its end of what is here is in view, and until there is a screenful."""
        pane, view = self.watching.panes.get(self._tab), self.view
        if pane is None or now < self._again_at or (self._tab == "turns" and not self.watching.story.steerable):
            return
        if pane.parted is not None and view.at_end:
            self.run_worker(self._load(self._tab, view, above=False), group="older")
        elif pane.above() and view.at_top and (not view.following or view.max_scroll_y == 0):
            self.run_worker(self._load(self._tab, view, above=True), group="older")

    async def _load(self, name: str, view: OutputView, *, above: bool) -> None:
        try:
            events = await self.watching.fetch(name, above=above)
        except HoplineError:  # the connection line says how it stands
            self._again_at = asyncio.get_running_loop().time() + SAID_SECONDS
            return
        if not events:
            return
        self.draw()
        pane = self.watching.panes[name]
        if above:
            view.sync_above(pane.put_above(events, view.lines_in_view))
        else:
            at_end = view.at_end
            view.sync(pane.put_below(events, self.watching.newest))
            if pane.parted is None and at_end and view.at_end:
                view.to_live()
        self.draw()
