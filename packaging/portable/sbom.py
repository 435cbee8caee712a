#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sbom.py FOLDER: the SPDX 2.3 document (JSON) of the portable programs in FOLDER.

Packages and versions come from FOLDER/.sources (what inside.sh fetched) and
packaging/portable/sources (licences); files and their hashes from FOLDER itself. The date is
SOURCE_DATE_EPOCH and the namespace the hash of all that, so that equal inputs give equal bytes.
"""
import datetime
import hashlib
import json
import os
import pathlib
import sys

here = pathlib.Path(__file__).resolve().parent
folder = pathlib.Path(sys.argv[1])
version = (here.parent.parent / "VERSION").read_text().strip()
created = datetime.datetime.fromtimestamp(
    int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def rows(path):
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            yield line.split()


licences = {row[0]: row[1] for row in rows(here / "sources")}
packages = [{
    "SPDXID": "SPDXRef-Package-cuvet", "name": "cuvet", "versionInfo": version,
    "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
    "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0",
    "copyrightText": "NOASSERTION", "primaryPackagePurpose": "APPLICATION",
}]
relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
              "relatedSpdxElement": "SPDXRef-Package-cuvet"}]
for name, debian, digest, dsc in rows(folder / ".sources"):
    ident = "SPDXRef-Package-" + name
    packages.append({
        "SPDXID": ident, "name": name, "versionInfo": debian,
        "supplier": "Organization: Debian", "filesAnalyzed": False,
        "downloadLocation": f"https://sources.debian.org/src/{name}/{debian}/",
        "licenseConcluded": licences[name], "licenseDeclared": licences[name],
        "copyrightText": "NOASSERTION", "sourceInfo": f"{dsc}, sha256 {digest}",
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                          "referenceLocator": f"pkg:deb/debian/{name}@{debian}?arch=source"}],
    })
    relations.append({"spdxElementId": "SPDXRef-Package-cuvet",
                      "relationshipType": "STATIC_LINK", "relatedSpdxElement": ident})
files = []
for path in sorted(folder.glob("cuvet-*")):
    if path.suffix in (".json", ".sig"):
        continue
    data = path.read_bytes()
    ident = "SPDXRef-File-" + path.name.replace("_", "-")
    files.append({
        "SPDXID": ident, "fileName": "./" + path.name, "fileTypes": ["BINARY"],
        "checksums": [{"algorithm": "SHA1", "checksumValue": hashlib.sha1(data).hexdigest()},
                      {"algorithm": "SHA256", "checksumValue": hashlib.sha256(data).hexdigest()}],
        "licenseConcluded": "NOASSERTION", "licenseInfoInFiles": ["NOASSERTION"],
        "copyrightText": "NOASSERTION",
    })
    relations.append({"spdxElementId": "SPDXRef-Package-cuvet",
                      "relationshipType": "CONTAINS", "relatedSpdxElement": ident})
body = {"packages": packages, "files": files, "relationships": relations}
unique = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
json.dump({
    "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
    "name": "cuvet-" + version, "documentNamespace": f"urn:sha256:{unique}",
    "creationInfo": {"created": created, "creators": ["Tool: cuvet-packaging-portable-sbom"]},
    **body,
}, sys.stdout, indent=1, sort_keys=True)
print()
