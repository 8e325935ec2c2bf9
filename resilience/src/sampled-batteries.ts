import { IS_QUICK, sampleOf } from '@agent-rental/test/support/form';

/** Batteries that guard the same promise in different ways. CI plays half of each group, the full form all. */
const GROUPS = {
  'interrupted runs': ['killed server', 'killed recovery', 'hostile statements', 'killed PostgreSQL'],
  payments: ['lost answers', 'payments soak'],
  replicas: ['killed replica', 'rolling update'],
  load: ['aborts', 'load'],
} as const;

/** Whether this run of the tests plays a battery in its small size. */
export function isPlayed<Group extends keyof typeof GROUPS>(
  group: Group,
  battery: (typeof GROUPS)[Group][number],
): boolean {
  const batteries: readonly string[] = GROUPS[group];
  return !IS_QUICK && sampleOf(batteries, batteries.length / 2).includes(battery);
}
