import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { attach } from '../support/marketplace.js';
import { freePort } from '../support/workshop.js';

const fileOf = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const ALERTS = fileOf('deploy/prometheus/alerts.yml');
const isInstalled = ['prometheus', 'promtool'].every(
  (name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0,
);
const alerts = await readFile(ALERTS, 'utf8');
const dashboard = JSON.parse(await readFile(fileOf('deploy/grafana/dashboard.json'), 'utf8')) as {
  panels: { title: string; targets?: { expr: string }[] }[];
};
const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const metricsIn = (text: string) =>
  [...text.matchAll(/\b(?:agent_rental|nodejs)_\w+/g)].map(([name]) => name);
const namesOf = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = '']) => name);

test('every alert is in the runbook, and nothing else is [OPS-57]', async () => {
  const named = namesOf(alerts, /^ +- alert: (\w+)$/gm);
  expect(named.length).toBeGreaterThan(15);
  const sections = namesOf(await readFile(fileOf('docs/runbook.md'), 'utf8'), /^## (\w+)$/gm);
  expect(sections).toEqual(named);
  expect(namesOf(alerts, /runbook: docs\/runbook\.md#(\w+)$/gm)).toEqual(
    named.map((name) => name.toLowerCase()),
  );
});

test('alerts and dashboard use metrics that a server has, and the dashboard shows all of the marketplace [OPS-57]', async () => {
  const { dev } = await attach(inject('stateDir'));
  const exposed = await (await fetch(new URL('/metrics', dev.base_url))).text();
  const made = new Set(namesOf(exposed, /^# TYPE (\w+)/gm));
  const plain = (name: string) => name.replace(/_(?:bucket|count|sum)$/, '');
  const used = [...metricsIn(alerts), ...expressions.flatMap(metricsIn)].map((name) =>
    made.has(name) ? name : plain(name),
  );
  expect(used.filter((name) => !made.has(name))).toEqual([]);
  const shown = new Set(expressions.flatMap(metricsIn).flatMap((name) => [name, plain(name)]));
  expect([...made].filter((name) => name.startsWith('agent_rental_') && !shown.has(name))).toEqual([]);
});

describe.runIf(isInstalled || process.env['CI'] !== undefined)('a Prometheus', () => {
  let folder: string;
  let server: ChildProcess;
  let url: string;

  const query = async (path: string): Promise<unknown> => {
    const answer = (await (await fetch(url + path)).json()) as { status: string; data: unknown };
    expect(answer).toMatchObject({ status: 'success' });
    return answer.data;
  };

  beforeAll(async () => {
    const { dev } = await attach(inject('stateDir'));
    folder = await mkdtemp(join(tmpdir(), 'agent-rental-prometheus-'));
    const config = join(folder, 'prometheus.yml');
    await writeFile(
      config,
      JSON.stringify({
        global: { scrape_interval: '1s', evaluation_interval: '1s' },
        scrape_configs: [
          { job_name: 'agent-rental', static_configs: [{ targets: [new URL(dev.base_url).host] }] },
        ],
        rule_files: [ALERTS],
      }),
    );
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    server = spawn(
      'prometheus',
      [
        `--config.file=${config}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdio: 'ignore' },
    );
    await vi.waitFor(
      async () => {
        const { ok } = await fetch(`${url}/-/ready`);
        if (!ok) throw new Error('It starts.');
      },
      { timeout: 30_000 },
    );
  }, 60_000);
  afterAll(async () => {
    server?.kill('SIGKILL');
    if (server && server.exitCode === null && server.signalCode === null) await once(server, 'exit');
    await rm(folder, { recursive: true, force: true });
  });

  test('takes the rules, whose own tests pass [OPS-57]', () => {
    for (const [command, file] of [
      ['check', ALERTS],
      ['test', fileOf('deploy/prometheus/alerts.test.yml')],
    ] as const) {
      expect(execFileSync('promtool', [command, 'rules', file], { encoding: 'utf8' })).toContain('SUCCESS');
    }
  });

  test('reads a server, and carries out each rule and each expression of the dashboard on it [OPS-57]', async () => {
    const rules = async () => {
      const { groups } = (await query('/api/v1/rules')) as {
        groups: { rules: { name: string; health: string }[] }[];
      };
      return groups.flatMap((group) => group.rules);
    };
    await expect
      .poll(async () => (await rules()).every(({ health }) => health === 'ok'), { timeout: 30_000 })
      .toBe(true);
    await expect
      .poll(
        async () =>
          ((await query('/api/v1/query?query=up')) as { result: { value: [number, string] }[] }).result.map(
            ({ value: [, up] }) => up,
          ),
        { timeout: 30_000 },
      )
      .toEqual(['1']);
    for (const expression of expressions) {
      await query(
        `/api/v1/query?query=${encodeURIComponent(expression.replaceAll('$__rate_interval', '1m'))}`,
      );
    }
  });
});
