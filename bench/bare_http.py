"""The base of comparison over HTTP: FastAPI on the same uvicorn, one route that reads and answers JSON.

`python -m bench.bare_http` says where it listens.
"""

from __future__ import annotations

import socket
import sys

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

app = FastAPI()


@app.post("/v1/nothing")
async def nothing(request: Request) -> JSONResponse:
    given: object = await request.json()
    return JSONResponse({"given": given})


def main() -> None:
    # The protocol is named as in Evoca's own server, so that asyncio sends without delay.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        sys.stderr.write(f"listening on http://127.0.0.1:{listener.getsockname()[1]}\n")
        sys.stderr.flush()
        config = uvicorn.Config(
            app, http="h11", loop="asyncio", ws="none", lifespan="off", access_log=False, log_config=None
        )
        uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
