const DAY_CHARACTERS = 10;
const MINUTE_CHARACTERS = 16;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The labels of an hour or day that begins at a time in UTC. */
export function labelsOf(startedAt: string, grain: 'hour' | 'day'): { label: string; short: string } {
  if (grain === 'hour') {
    return {
      label: startedAt.slice(0, MINUTE_CHARACTERS).replace('T', ' '),
      short: startedAt.slice(DAY_CHARACTERS + 1, MINUTE_CHARACTERS),
    };
  }
  const [, month = '', day = ''] = startedAt.slice(0, DAY_CHARACTERS).split('-');
  return {
    label: startedAt.slice(0, DAY_CHARACTERS),
    short: `${Number(day)} ${MONTHS[Number(month) - 1] ?? ''}`,
  };
}
