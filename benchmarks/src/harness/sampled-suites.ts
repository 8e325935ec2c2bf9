import { IS_QUICK, sampleOf } from '@agent-rental/test/support/form';

const TESTED = ['charts', 'growth', 'overload', 'pay-per-call', 'replicas', 'runs', 'webhooks'] as const;
const PLAYED = sampleOf(TESTED, 1);

/** Whether this run of the tests plays a suite in its small size: CI plays one of them, the full form all. */
export const isPlayed = (suite: (typeof TESTED)[number]): boolean => !IS_QUICK && PLAYED.includes(suite);
