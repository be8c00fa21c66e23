"""The certificate of a server and its key, checked before clients connect."""

import ssl
from contextlib import suppress
from pathlib import Path

from ..errors import FlagError

WRONG_DATES = (9, 10)
"""OpenSSL's codes for certificates that are not yet valid, and for expired ones."""


def check_certificate(certificate: Path, key: Path) -> None:
    """Raise FlagError unless a server can use these PEM files of --tls_certificate and --tls_key."""
    for flag, path in {"tls_certificate": certificate, "tls_key": key}.items():
        try:
            path.read_bytes()
        except OSError as error:
            raise FlagError(f"--{flag}={path}: cannot be read ({error.strerror})") from error

    def refuse() -> str:
        raise FlagError(f"--tls_key={key}: the key is encrypted; write it without a password, with `openssl pkey`")

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, refuse)
    except ssl.SSLError as error:
        raise FlagError(_reason(certificate, key, error)) from error


def expiry(certificate: Path, key: Path) -> str | None:
    """Return why clients refuse the dates of a certificate, such as "certificate has expired"; None if they don't.

    The check is a client's handshake in memory, with the clock of this machine.
    """
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    server.load_cert_chain(certificate, key)
    client.load_verify_locations(certificate)
    client.check_hostname = False
    client.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # accept any signer
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = (client.wrap_bio(to_client, to_server), server.wrap_bio(to_server, to_client, server_side=True))
    try:
        for end in ends * 2:
            with suppress(ssl.SSLWantReadError):
                end.do_handshake()
    except ssl.SSLCertVerificationError as error:
        return error.verify_message if error.verify_code in WRONG_DATES else None
    return None


def _reason(certificate: Path, key: Path, error: ssl.SSLError) -> str:
    if error.reason == "KEY_VALUES_MISMATCH":
        first = f"the first certificate in --tls_certificate={certificate}"
        return f"--tls_key={key}: the key is not that of {first}; give its key, or move it behind the server's own"
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_verify_locations(certificate)
    except ssl.SSLError:
        return f"--tls_certificate={certificate}: there is no certificate in it; give a PEM file with its whole chain"
    why = (error.reason or "unknown format").replace("_", " ").lower()
    return f"--tls_key={key}: no key for --tls_certificate={certificate} ({why}); give a PEM file of its private key"
