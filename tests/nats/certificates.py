"""Certificates for test servers: an authority, and certificates that it signed."""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.nats.servers import LOOPBACK


class TlsFiles(NamedTuple):
    ca: Path
    """The authority's certificate."""
    cert: Path
    """The certificate of the server, for the loopback addresses."""
    key: Path
    client_cert: Path
    client_key: Path

    def server(self, *, verify: bool = False) -> dict[str, Any]:
        """Return the TLS section of a server's configuration."""
        return {
            "tls": {"cert_file": str(self.cert), "key_file": str(self.key), "ca_file": str(self.ca), "verify": verify}
        }


def tls_files(folder: Path) -> TlsFiles:
    """Create an authority, a server certificate and a client certificate."""
    folder.mkdir(parents=True, exist_ok=True)
    authority, name = ec.generate_private_key(ec.SECP256R1()), _name("an authority of tests")
    ca = _sign(authority, name, authority, name, is_authority=True)
    files = TlsFiles(*(folder / f for f in ("ca.pem", "cert.pem", "key.pem", "client.pem", "client-key.pem")))
    files.ca.write_bytes(ca.public_bytes(serialization.Encoding.PEM))
    for cert_file, key_file in ((files.cert, files.key), (files.client_cert, files.client_key)):
        key = ec.generate_private_key(ec.SECP256R1())
        cert = _sign(key, _name("localhost"), authority, name, is_authority=False)
        cert_file.write_bytes(cert.public_bytes(serialization.Encoding.PEM))
        key_file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
    return files


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _sign(
    key: ec.EllipticCurvePrivateKey,
    name: x509.Name,
    authority: ec.EllipticCurvePrivateKey,
    issuer: x509.Name,
    *,
    is_authority: bool,
) -> x509.Certificate:
    now = datetime.now(UTC)
    addresses = [x509.IPAddress(ip_address(host)) for host in LOOPBACK]
    public = key.public_key()
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost"), *addresses]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key()), critical=False)
        .add_extension(
            x509.KeyUsage(
                digital_signature=True,
                content_commitment=False,
                key_encipherment=False,
                data_encipherment=False,
                key_agreement=False,
                key_cert_sign=is_authority,
                crl_sign=is_authority,
                encipher_only=False,
                decipher_only=False,
            ),
            critical=True,
        )
        .sign(authority, hashes.SHA256())
    )
