# The study in a container: docker build -t hyperslab . && docker run --rm -v "$PWD/build:/hyperslab/build" hyperslab
# Packages as in apt.txt and requirements.lock; tests/test_setup.py holds them together.
FROM python:3.12.7-slim-bookworm@sha256:032c52613401895aa3d418a4c563d2d05f993bc3ecc065c8f4e2280978acd249

RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      chromium \
      gcc \
      git \
      libc6-dev \
      libhdf5-openmpi-dev \
      libopenmpi-dev \
      libpnetcdf-dev \
      make \
      openmpi-bin \
    && rm -rf /var/lib/apt/lists/*

# make uses an active environment that has what is asked for, and makes none then.
ENV VIRTUAL_ENV=/opt/hyperslab PATH=/opt/hyperslab/bin:$PATH
WORKDIR /hyperslab
RUN useradd --uid 1000 --no-create-home --home-dir /hyperslab reader \
    && mkdir /opt/hyperslab && chown reader /opt/hyperslab /hyperslab
USER reader

COPY --chown=reader requirements.lock .
RUN python -m venv "$VIRTUAL_ENV" \
    && python -m pip install --no-cache-dir --require-hashes -r requirements.lock
COPY --chown=reader . .
RUN python -m pip install --no-cache-dir --no-deps --no-build-isolation -e .

CMD ["make", "book"]
