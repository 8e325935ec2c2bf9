import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { environment } from '@agent-rental/server/config';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { namesIn, readText, ROOT } from '../repository.js';
import { IS_QUICK } from '../../support/form.js';
import { pythonInFullForm, runPython } from '../../support/toolchains/python-environment.js';

const run = promisify(execFile);
const CHART = 'deploy/helm/agent-rental';
const besideThis = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const tools = await pythonInFullForm(besideThis('requirements.txt'));
/** The oldest version that the chart supports, and the newest version with schemas. */
const KUBERNETES_VERSIONS = ['1.30', '1.37'];
const SECRETS = /(?:^|_)(?:KEY|KEYS|TOKEN|PASSWORD|URLS?)$/;

interface Variable {
  name: string;
  value?: string;
  valueFrom?: { secretKeyRef: { name: string; key: string; optional?: boolean } };
}
interface Manifest {
  kind: string;
  spec: Record<string, unknown>;
}

async function helm(...args: string[]): Promise<string> {
  if ('missing' in tools) throw new Error(`There is no Helm: ${tools.missing}`);
  const { stdout } = await run(join(dirname(tools.python), 'helm'), args, { cwd: join(ROOT, CHART) });
  return stdout;
}

async function render(...args: string[]): Promise<Manifest[]> {
  const text = await helm('template', 'market', '.', '--kube-version', KUBERNETES_VERSIONS[1] ?? '', ...args);
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}

function specOf(manifests: Manifest[], kind: string): Record<string, unknown> {
  const found = manifests.find((manifest) => manifest.kind === kind);
  if (!found) throw new Error(`There is no ${kind}.`);
  return found.spec;
}

/** The pod of a Deployment, as far as these tests read it. */
function podOf(manifests: Manifest[]) {
  const { template } = specOf(manifests, 'Deployment') as { template: { spec: Pod } };
  const [server] = template.spec.containers;
  if (!server) throw new Error('There is no container.');
  return { pod: template.spec, server, variables: new Map(server.env.map((one) => [one.name, one])) };
}
interface Pod {
  terminationGracePeriodSeconds: number;
  automountServiceAccountToken: boolean;
  securityContext: object;
  containers: {
    env: Variable[];
    image: string;
    securityContext: object;
    ports: { containerPort: number }[];
    [probe: string]: unknown;
  }[];
}

test('the settings of the chart are variables that the server reads [OPS-82]', () => {
  const { config } = parse(readText(`${CHART}/values.yaml`)) as { config: Record<string, unknown> };
  expect(Object.keys(config).filter((name) => !(name in environment.shape))).toEqual([]);
});

test('the chart takes every sandbox driver but Deno alone', () => {
  const { properties } = JSON.parse(readText(`${CHART}/values.schema.json`)) as {
    properties: { sandbox: { properties: { driver: { enum: string[] } } } };
  };
  const weak: string[] = ['auto', 'deno'];
  const drivers = environment.shape.SANDBOX_DRIVER.unwrap().options.filter((name) => !weak.includes(name));
  expect(properties.sandbox.properties.driver.enum.toSorted()).toEqual(drivers.toSorted());
});

test('the chart names the release of its repository', () => {
  const { version, appVersion } = parse(readText(`${CHART}/Chart.yaml`)) as Record<string, string>;
  const { version: release } = JSON.parse(readText('server/package.json')) as { version: string };
  expect({ version, appVersion }).toEqual({ version: release, appVersion: release });
});

describe.skipIf(IS_QUICK).each(namesIn(`${CHART}/ci`, 'file'))('the chart with %s', (file) => {
  const values = `ci/${file}`;
  let manifests: Manifest[];
  beforeAll(async () => {
    manifests = await render('--values', values);
  });

  test('passes the strict lint [OPS-82]', async () => {
    expect(await helm('lint', '--strict', '--values', values, '.')).toContain('0 chart(s) failed');
  });

  test('renders manifests that the schemas of Kubernetes allow [OPS-82]', async () => {
    expect(manifests.length).toBeGreaterThan(1);
    const python = 'missing' in tools ? '' : tools.python;
    const job = { manifests, versions: KUBERNETES_VERSIONS };
    const judged = (await runPython(python, besideThis('validate-manifests.py'), job)) as {
      faults: string[];
      unknown: string[];
    };
    expect(judged.faults).toEqual([]);
    // Of the Prometheus operator: Kubernetes has no schema of it.
    expect(judged.unknown.filter((kind) => kind !== 'ServiceMonitor')).toEqual([]);
  });

  test('sets variables that the server reads, and secrets by their names alone [OPS-82]', () => {
    const { variables } = podOf(manifests);
    expect([...variables.keys()].filter((name) => !(name in environment.shape))).toEqual([]);
    const written = [...variables.values()].filter(
      ({ name, value }) => value !== undefined && SECRETS.test(name),
    );
    expect(written.map(({ name }) => name).toSorted()).toEqual(
      variables.has('AUTHORITY_SIGNER_URL')
        ? ['AUTHORITY_PUBLIC_KEY', 'AUTHORITY_SIGNER_URL', 'PUBLIC_URL']
        : ['PUBLIC_URL'],
    );
    expect(manifests.some(({ kind }) => kind === 'Secret')).toBe(false);
  });

  test('runs as no root, on a read-only root, without a token of the cluster [OPS-82]', () => {
    const { pod, server } = podOf(manifests);
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000 },
    });
    expect(server.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(server.image).toMatch(/:\d+\.\d+\.\d+$|@sha256:/);
  });

  test('probes where the server answers, and leaves it the time to drain [OPS-82]', () => {
    const { pod, server, variables } = podOf(manifests);
    expect(server).toMatchObject({
      startupProbe: { httpGet: { path: '/health' } },
      livenessProbe: { httpGet: { path: '/health' } },
      readinessProbe: { httpGet: { path: '/ready' } },
      ports: [{ containerPort: 8787 }],
    });
    const drain = Number(variables.get('DRAIN_TIMEOUT_SECONDS')?.value);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(drain + 10);
  });

  test('counts limits for the most servers that there may be [OPS-82]', () => {
    const { variables } = podOf(manifests);
    const most = manifests.some(({ kind }) => kind === 'HorizontalPodAutoscaler')
      ? Number(specOf(manifests, 'HorizontalPodAutoscaler')['maxReplicas'])
      : Number(specOf(manifests, 'Deployment')['replicas']);
    expect(variables.get('REPLICAS')?.value).toBe(String(most));
    if (!variables.has('E2B_MAX_SANDBOXES')) return;
    const given = parse(readText(`${CHART}/${values}`)) as { sandbox?: { e2b?: { maxSandboxes: number } } };
    const allowed = given.sandbox?.e2b?.maxSandboxes ?? 20;
    // One more while an update replaces them.
    expect(Number(variables.get('E2B_MAX_SANDBOXES')?.value) * (most + 1)).toBeLessThanOrEqual(allowed);
  });
});

test.skipIf(IS_QUICK).each([
  ['without a Secret', ['config.PUBLIC_URL=https://market.example'], 'existingSecret'],
  ['with a secret in its values', ['config.MASTER_KEY=x'], 'MASTER_KEY'],
  ['with a setting that it does not have', ['replicas=3'], 'replicas'],
])('the chart %s is refused, naming it [OPS-82]', async (_, set, named) => {
  const args = set.flatMap((one) => ['--set', one]);
  await expect(render(...args)).rejects.toThrow(named);
});
