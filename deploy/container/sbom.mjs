// `node sbom.mjs`: a CycloneDX document of what npm installed here, by its own record of it. `npm sbom` leaves out most of what workspaces
// share.
import { existsSync, readFileSync } from 'node:fs';

const { packages } = JSON.parse(readFileSync('node_modules/.package-lock.json', 'utf8'));
const application = JSON.parse(readFileSync('package.json', 'utf8'));

function componentOf(path, { name: alias, version: of, integrity, license }) {
  const component =
    alias ?? (path.includes('node_modules/') ? path.split('node_modules/').at(-1) : undefined);
  const [algorithm, digest] = integrity?.split('-', 2) ?? [];
  return {
    type: 'library',
    name: component,
    version: of,
    purl: `pkg:npm/${component.replace('@', '%40')}@${of}`,
    ...(license ? { licenses: [{ license: { name: license } }] } : {}),
    ...(algorithm === 'sha512'
      ? { hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }] }
      : {}),
  };
}

const components = Object.entries(packages)
  // What was removed after the installation is in the record, too; a workspace lies outside, and a link leads to it.
  .filter(
    ([path, { link, name }]) =>
      !link && existsSync(path.includes('node_modules/') ? path : `node_modules/${name}`),
  )
  .map(([path, entry]) => componentOf(path, entry));
const metadata = { component: { type: 'application', name: application.name, version: application.version } };
process.stdout.write(
  `${JSON.stringify({ bomFormat: 'CycloneDX', specVersion: '1.5', version: 1, metadata, components }, null, 1)}\n`,
);
