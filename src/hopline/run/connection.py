"""The life of one connection: requests one after another, or one subscription. The same on every carrier."""

from hopline.run.answers import Answers
from hopline.run.channel import Channel
from hopline.run.subscriptions import Subscriptions
from hopline.wire.client.requests import Subscribe
from hopline.wire.client.session import Received, Rejected


async def serve(channel: Channel, answers: Answers, subscriptions: Subscriptions) -> None:
    """Serve `channel` until its peer has left. A Response that the peer does not wait for ends only this."""
    while (item := await channel.next()) is not None:
        match item:
            case Rejected():
                await channel.send(answers.reject(item))
            case Received(request=Subscribe() as request):
                await subscriptions.serve(channel, item, request)
                return
            case Received():
                await channel.send(await answers.answer(item))
        channel.answered()
