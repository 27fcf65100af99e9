# Evoca as a server. The store is PostgreSQL (EVOCA_STORE=postgresql://...) or a SQLite file in the volume /data.

FROM python:3.13-slim-bookworm AS build
WORKDIR /src
RUN python -m venv /opt/evoca
COPY requirements/build.txt requirements/runtime.txt requirements/
RUN /opt/evoca/bin/pip install --no-cache-dir --require-hashes \
        --requirement requirements/build.txt --requirement requirements/runtime.txt
COPY pyproject.toml README.md LICENSE NOTICES.md ./
COPY src src
RUN /opt/evoca/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.13-slim-bookworm
RUN useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin evoca \
    && install --directory --owner evoca --mode 0700 /data
COPY --from=build /opt/evoca /opt/evoca
ENV PATH=/opt/evoca/bin:$PATH \
    EVOCA_STORE=/data/evoca.db \
    EVOCA_HOST=0.0.0.0 \
    EVOCA_PORT=8420
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8420
HEALTHCHECK --interval=15s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import os, urllib.request as web; web.urlopen('http://127.0.0.1:' + os.environ['EVOCA_PORT'] + '/healthz', timeout=4)"]
ENTRYPOINT ["evoca"]
CMD ["serve"]
