import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, inject, test } from 'vitest';

const MAIN = fileURLToPath(new URL('../../../server/dist/operator/main.js', import.meta.url));

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs an operator's command as `npm run operator` does, on a state folder. */
function operate(stateDir: string, ...argv: string[]): Promise<Ended> {
  const env = { PATH: process.env['PATH'], STATE_DIR: stateDir };
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...argv], { env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

test('the doctor finds no problem on a running server, and one where no server runs [OPS-76]', async () => {
  const text = await operate(inject('stateDir'), 'doctor');
  expect(text).toMatchObject({ code: 0, stderr: '' });
  expect(text.stdout).toContain('0 problems');
  const empty = await mkdtemp(join(tmpdir(), 'no server '));
  try {
    const json = await operate(empty, 'doctor', '--json');
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: false,
      checks: expect.arrayContaining([
        expect.objectContaining({ name: 'database', status: 'problem' }),
      ]) as unknown,
    });
  } finally {
    await rm(empty, { recursive: true });
  }
  expect(await operate(empty, 'doctor', '--fix')).toMatchObject({ code: 1 });
}, 60_000);

test("the operator's commands find program and chain of the running embedded default [OPS-70]", async () => {
  expect((await operate(inject('stateDir'), 'deploy-check')).stdout).toContain('as committed');
  expect((await operate(inject('stateDir'), 'pause', '--dry-run')).stdout).toContain('Nothing was sent');
});
