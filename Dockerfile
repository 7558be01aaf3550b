# For auditors: the checker alone, without torch. Built from a clone that you trust, and run without a network:
#   docker build -t verale .
#   docker run --rm --network none -v "$PWD/OUT:/audited:ro" verale audit .
FROM python:3.12-slim
COPY pyproject.toml README.md LICENSE.*.txt /source/
COPY proofs /source/proofs
COPY certificates /source/certificates
COPY verale /source/verale
RUN python -m pip install --no-cache-dir /source
USER nobody
WORKDIR /audited
ENTRYPOINT ["verale"]
