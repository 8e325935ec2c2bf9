import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { openTestDatabase } from '../testing/index.js';
import { CHARGE_STATES, type ChargeState } from './charge-states.js';

const SOURCES = fileURLToPath(new URL('..', import.meta.url));
const NAMES = Object.keys(CHARGE_STATES) as ChargeState[];

/** What statements ask of a state beyond the table: whether it has a transaction, and whether no other state follows. */
const ASKED: Readonly<Record<ChargeState, { isSigned: boolean; isLast: boolean }>> = {
  reserved: { isSigned: false, isLast: false },
  signed: { isSigned: true, isLast: false },
  confirmed: { isSigned: true, isLast: false },
  finalized: { isSigned: true, isLast: false },
  credited: { isSigned: true, isLast: true },
  failed: { isSigned: true, isLast: true },
  lost: { isSigned: true, isLast: true },
};

/** The sets of states that statements list. */
const SETS: readonly ((
  state: (typeof CHARGE_STATES)[ChargeState] & (typeof ASKED)[ChargeState],
) => boolean)[] = [
  ({ isOpen }) => isOpen,
  ({ isOpen, isSigned }) => isOpen && isSigned,
  ({ isOpen, isPaid }) => isOpen && !isPaid,
  ({ isPaid }) => isPaid,
  ({ isOpen, isPaid }) => !isOpen && isPaid,
  ({ isOpen, isPaid }) => !isOpen && !isPaid,
  ({ isLast }) => isLast,
  // The constraint of the table.
  () => true,
  // Not paid, and not about to be confirmed.
  ({ isOpen, isPaid, isSigned }) => !isPaid && !(isOpen && isSigned),
];

it('the states of a charge are the states that the database allows', async () => {
  const { db, close } = await openTestDatabase();
  onTestFinished(close);
  const { rows } = await sql<{ rule: string }>`
    select pg_get_constraintdef(oid) as rule from pg_constraint
    where conrelid = 'charges'::regclass and conname = 'charges_state_check'`.execute(db);
  const allowed = [...(rows[0]?.rule ?? '').matchAll(/'(\w+)'/g)].map(([, name = '']) => name);
  expect(allowed.toSorted()).toEqual(NAMES.toSorted());
});

it('every list of states in a statement is one of the sets that the table makes', () => {
  const sets = SETS.map((holds) =>
    NAMES.filter((name) => holds({ ...CHARGE_STATES[name], ...ASKED[name] }))
      .toSorted()
      .join(),
  );
  const found = execFileSync('git', ['ls-files', '*.ts', '*.sql'], { cwd: SOURCES, encoding: 'utf8' })
    .split('\n')
    .filter((file) => /^(?!.*(?:test|migrations\/)).*\.(?:ts|sql)$/.test(file))
    .flatMap((file) =>
      [...readFileSync(`${SOURCES}/${file}`, 'utf8').matchAll(/\bin'?,? [([]('\w+'(?:, '\w+')*)[)\]]/g)].map(
        ([, list = '']) => ({ file, states: list.replaceAll("'", '').split(', ') }),
      ),
    )
    .filter(({ states }) => states.every((state) => Object.hasOwn(CHARGE_STATES, state)));
  expect(found.length).toBeGreaterThan(10);
  expect(found.filter(({ states }) => !sets.includes(states.toSorted().join()))).toEqual([]);
});
