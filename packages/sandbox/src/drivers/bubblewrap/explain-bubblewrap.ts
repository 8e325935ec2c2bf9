import { existsSync, readFileSync } from 'node:fs';

function setting(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}

interface MachineFacts {
  inContainer: boolean;
  /** By name below /proc/sys; absent settings are undefined. */
  sysctl(name: string): string | undefined;
}

export function machineFacts(): MachineFacts {
  return {
    inContainer: existsSync('/.dockerenv') || existsSync('/run/.containerenv'),
    sysctl: (name) => setting(`/proc/sys/${name}`),
  };
}

export const INSTALL_BUBBLEWRAP =
  'install bubblewrap 0.8 or later (Debian, Ubuntu: apt-get install bubblewrap; Fedora: dnf install bubblewrap)';

/**
 * The probable reason of bubblewrap's failure and its remedy, for the operator.
 * @param said its text on stderr.
 */
export function explainBubblewrapFailure(said: string, { inContainer, sysctl }: MachineFacts): string {
  const words = said.trim().split('\n').slice(-3).join(' / ') || 'it said nothing';
  const advice = adviceFor(said, inContainer, sysctl);
  return advice === undefined ? words : `${words}. ${advice}`;
}

function adviceFor(said: string, inContainer: boolean, sysctl: MachineFacts['sysctl']): string | undefined {
  if (/unknown option/i.test(said)) return `This bubblewrap is too old: ${INSTALL_BUBBLEWRAP}.`;
  if (/Can't find source path|Can't open source path|Permission denied.*\/(deno|app)/i.test(said)) {
    return 'The installation has to be readable for the user that sandboxes run as.';
  }
  if (!/namespace|uid map|Operation not permitted|Permission denied|loopback|mount/i.test(said))
    return undefined;
  if (inContainer) {
    return (
      "A container's default profile forbids user namespaces and writing to /proc/sys. Start the container with " +
      '--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined, ' +
      'or use another driver.'
    );
  }
  if (sysctl('kernel/apparmor_restrict_unprivileged_userns') === '1') {
    return (
      'AppArmor restricts user namespaces here (Ubuntu 23.10 and later): allow them to bwrap by a profile in ' +
      '/etc/apparmor.d with "userns,", or set sysctl kernel.apparmor_restrict_unprivileged_userns=0.'
    );
  }
  if (sysctl('kernel/unprivileged_userns_clone') === '0') {
    return 'User namespaces are switched off here: set sysctl kernel.unprivileged_userns_clone=1.';
  }
  if (sysctl('user/max_user_namespaces') === '0') {
    return 'User namespaces are switched off here: set sysctl user.max_user_namespaces=15000.';
  }
  return 'The kernel, or a profile around this process, forbids user namespaces.';
}
