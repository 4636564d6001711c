"""A store of S3 that others run, as MinIO: it takes files and refuses who has not its key."""

from contextlib import ExitStack, contextmanager

import pytest

from hyperslab.network import answers, serving
from hyperslab.network import server as served

KEY, SECRET = "AKCANARYCANARYCANARY", "canary-that-nobody-may-see"


@contextmanager
def store(folder, bucket="bucket"):
    """Serve a folder as that store."""
    with pytest.MonkeyPatch.context() as patch, ExitStack() as held:
        patch.setattr(served, "BUCKET", bucket)
        patch.setattr(served, "KEYS", (KEY, SECRET))
        with patch.context() as starting:  # other servers are none of its kind
            starting.setitem(served.PROGRAMS, "aiohttp", "made_store")
            server = held.enter_context(serving(folder, "s3"))
        yield server


def variables(server, key=KEY):
    """What the environment tells of that store."""
    return {
        "AWS_ENDPOINT_URL": server.endpoint,
        "AWS_ACCESS_KEY_ID": key,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": "us-east-1",
    }


class Store(answers.Files):
    """The files of that store."""

    async def given(self, request, line):
        if f"Credential={KEY}/" not in request.headers.get("Authorization", ""):
            return await answers.tell(request, line, 403)
        if request.method != "PUT":
            return await super().given(request, line)
        if request.headers.get("Expect", "").lower() == "100-continue":
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            request.writer.output_size = 0  # what follows is the answer
        file = self.root / request.path.removeprefix(f"/{self.bucket}/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(await request.content.read())
        return await answers.tell(request, line, 200, "<Put/>", {"ETag": '"1"'})


async def main(seat):
    """Serve until told to stop."""
    await answers.main(seat, Store)
