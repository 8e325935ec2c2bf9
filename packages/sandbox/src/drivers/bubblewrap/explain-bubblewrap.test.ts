import { expect, test } from 'vitest';
import { explainBubblewrapFailure } from './explain-bubblewrap.js';

const DENIED = 'bwrap: setting up uid map: Permission denied';

function explain(
  said: string,
  facts: { inContainer?: boolean; [sysctl: string]: string | boolean | undefined },
): string {
  const sysctl = (name: string): string | undefined => facts[name] as string | undefined;
  return explainBubblewrapFailure(said, { inContainer: facts.inContainer === true, sysctl });
}

test.each([
  ['a container', { inContainer: true }, /seccomp=unconfined/],
  ['Ubuntu', { 'kernel/apparmor_restrict_unprivileged_userns': '1' }, /AppArmor.*kernel\.apparmor_restrict/],
  ['an older Debian', { 'kernel/unprivileged_userns_clone': '0' }, /kernel\.unprivileged_userns_clone=1/],
  ['a machine without user namespaces', { 'user/max_user_namespaces': '0' }, /max_user_namespaces/],
  ['another machine', {}, /forbids user namespaces/],
])('the text of bubblewrap is kept, and the advice for %s added', (_where, facts, advice) => {
  const words = explain(DENIED, facts);
  expect(words).toContain(DENIED);
  expect(words).toMatch(advice);
});

test('an old bubblewrap and unreadable files get other advice', () => {
  expect(explain('bwrap: Unknown option --disable-userns', { inContainer: true })).toMatch(/0\.8 or later/);
  expect(explain("bwrap: Can't find source path /root/deno: Permission denied", {})).toMatch(/readable/);
});

test('other text gets no advice, and only its last lines are kept', () => {
  expect(explain('a\nb\nc\nd\n', {})).toBe('b / c / d');
  expect(explain('', {})).toBe('it said nothing');
});
