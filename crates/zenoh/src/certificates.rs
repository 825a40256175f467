//! Certificate authorities for a test or a benchmark: made, used, thrown away.

use std::io::{self, Write as _};
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, SanType,
};

use crate::Tls;

/// An authority whose files are in one folder.
pub struct Authority {
    folder: PathBuf,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    /// A new one, with its certificate in `FOLDER/ca.pem`.
    ///
    /// # Errors
    ///
    /// When the folder cannot be written to.
    pub fn create(folder: &Path) -> io::Result<Authority> {
        std::fs::create_dir_all(folder)?;
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.distinguished_name = named("Headway test authority");
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let certificate = params.self_signed(&key).map_err(io::Error::other)?;
        std::fs::write(folder.join("ca.pem"), certificate.pem())?;
        Ok(Authority {
            folder: folder.to_owned(),
            issuer: Issuer::new(params, key),
        })
    }

    /// A certificate for a node with this name, at this host.
    ///
    /// # Errors
    ///
    /// When the host cannot be in a certificate, or the files cannot be written.
    pub fn certify(&self, name: &str, host: &str) -> io::Result<Tls> {
        let mut params = CertificateParams::default();
        params.distinguished_name = named(name);
        params.subject_alt_names = vec![match host.parse::<IpAddr>() {
            Ok(address) => SanType::IpAddress(address),
            Err(_) => SanType::DnsName(host.try_into().map_err(io::Error::other)?),
        }];
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ServerAuth,
            ExtendedKeyUsagePurpose::ClientAuth,
        ];
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let certificate = params
            .signed_by(&key, &self.issuer)
            .map_err(io::Error::other)?;
        let tls = Tls {
            authority: self.folder.join("ca.pem"),
            certificate: self.folder.join(format!("{name}.pem")),
            key: self.folder.join(format!("{name}.key")),
        };
        std::fs::write(&tls.certificate, certificate.pem())?;
        write_private(&tls.key, &key.serialize_pem())?;
        Ok(tls)
    }
}

fn named(name: &str) -> DistinguishedName {
    let mut full = DistinguishedName::new();
    full.push(DnType::CommonName, name);
    full
}

/// Readable by this user only.
fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}
