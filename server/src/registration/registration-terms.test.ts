import { afterAll, expect, it } from 'vitest';
import { loginOf } from '../testing/index.js';
import { openRegistration, TERMS, type RegistrationFixture } from './registration.test-support.js';

const fixture = await openRegistration();
afterAll(() => fixture.close());

const { draft } = fixture;
const update = (wallet: string, id: string, changes: Record<string, unknown>) =>
  fixture.update('automatic', wallet, id, changes);
const violationsOf = (job: Awaited<ReturnType<RegistrationFixture['update']>>) =>
  job.error?.details.map(({ path }) => path).toSorted();

it('all that is said of a listing when it is published is stored [REG-70]', async () => {
  const { wallet, id } = await draft({ listing: undefined });
  const { price_lamports, ...said } = {
    ...TERMS,
    title: 'The invoice reader',
    runs_per_minute: 7,
    sample_input: { text: 'a' },
  };
  await fixture.service('automatic').prepareToPublish(wallet, id, { ...said, price_lamports });
  const stored = { ...said, price_lamports: 500_000n, min_deposit_lamports: 500_000n };
  expect(await fixture.listing(id)).toMatchObject(stored);
  // Fields that are left out stay; a deposit that equals the price follows it.
  await fixture
    .service('automatic')
    .prepareToPublish(wallet, id, { title: 'Another', price_lamports: 600_000 });
  expect(await fixture.listing(id)).toMatchObject({
    ...stored,
    title: 'Another',
    price_lamports: 600_000n,
    min_deposit_lamports: 600_000n,
  });
});

it('an update changes texts and terms of a listing, without a new version [REG-70]', async () => {
  const { wallet, id } = await draft();
  const { version_id: version } = await fixture.listing(id);
  const listing = { title: 'Better', runs_per_minute: 3, sample_output: ['a', 'b'], price_lamports: 700_000 };
  expect(await update(wallet, id, { listing })).toMatchObject({ status: 'completed' });
  expect(await fixture.listing(id)).toMatchObject({
    version_id: version,
    title: 'Better',
    runs_per_minute: 3,
    sample_output: ['a', 'b'],
    price_lamports: 700_000n,
  });
  const both = { listing: { runs_per_minute: null }, description: 'Reads more.' };
  await update(wallet, id, both);
  const after = await fixture.listing(id);
  expect(after).toMatchObject({ runs_per_minute: null, description: 'Reads more.', title: 'Better' });
  expect(after.version_id).not.toBe(version);
});

it.each([
  [
    'takes a listing out of the nightly runs, and back in [REG-145]',
    'health_checks',
    [false, true],
    false,
    true,
  ],
  [
    'offers a free first run to all, and ends the offer [REG-149]',
    'free_trial',
    [true, false],
    'anyone',
    null,
  ],
  [
    'offers a free first run to renters, and ends the offer [REG-149]',
    'free_trial',
    ['renters', false],
    'renters',
    null,
  ],
] as const)('a creator %s, when it is registered or later', async (_, field, [other, usual], set, unset) => {
  const now = async (id: string) => (await fixture.listing(id))[field];
  const { wallet, id } = await draft();
  expect(await now(id)).toBe(unset);
  for (const [listing, expected] of [
    [{ [field]: other }, set],
    [{ title: 'Better' }, set],
    [{ [field]: usual }, unset],
  ] as const) {
    await update(wallet, id, { listing });
    expect(await now(id)).toBe(expected);
  }
  expect(await now((await draft({ listing: { ...TERMS, [field]: other } })).id)).toBe(set);
  const wrong = await update(wallet, id, { listing: { [field]: 'never' } });
  expect(violationsOf(wrong)).toEqual([`listing.${field}`]);
});

it('an update leaves the on-chain terms of a published listing, and names the way to change them [REG-70]', async () => {
  const { wallet, id } = await draft();
  await fixture.land(id, 10n);
  const listing = {
    rental_model: 'one_time',
    price_lamports: 700_000,
    min_deposit_lamports: 1,
    title: 'Better',
  };
  const job = await update(wallet, id, { listing });
  expect(violationsOf(job)).toEqual([
    'listing.min_deposit_lamports',
    'listing.price_lamports',
    'listing.rental_model',
  ]);
  expect(JSON.stringify(job.error)).toContain('POST /v1/transactions');
  expect((await fixture.listing(id)).title).not.toBe('Better');
  await update(wallet, id, { listing: { title: 'Better' } });
  expect(await fixture.listing(id)).toMatchObject({ title: 'Better', status: 'active' });
});

it('an update checks changes of listing and manifest together, and stores none if one is wrong [REG-70]', async () => {
  const { wallet, id } = await draft();
  const job = await update(wallet, id, {
    timeout_seconds: 301,
    listing: { title: '', runs_per_minute: 0, sample_output: [], price_lamports: 5, nonsense: 1 },
  });
  expect(violationsOf(job)).toEqual([
    'listing',
    'listing.price_lamports',
    'listing.runs_per_minute',
    'listing.sample_output',
    'listing.title',
    'timeout_seconds',
  ]);
  const below = await update(wallet, id, {
    listing: { price_lamports: 1_000, title: 'Cheap' },
  });
  expect(violationsOf(below)).toEqual(['listing.price_lamports']);
  expect(await fixture.listing(id)).toMatchObject({ price_lamports: 500_000n, title: 'Invoice reader' });
});

it('a task of an update that runs twice at once makes one version [REG-22]', async () => {
  const { wallet, id } = await draft();
  const service = fixture.service('automatic');
  const { job_id: job } = await service.update(
    loginOf(wallet),
    id,
    { description: 'Once.' },
    async () => undefined,
  );
  await Promise.all(Array.from({ length: 4 }, () => service.validate(job)));
  const versions = fixture.database.db.selectFrom('agent_versions').select('id').where('listing_id', '=', id);
  expect(await versions.execute()).toHaveLength(2);
});

it.each(['a', '7', '3d-models', '2', 'x1'])('a manifest named %s is registered [MAN-30]', async (name) => {
  const { id } = await draft({ name });
  expect(id.startsWith(`${name}-`)).toBe(true);
  expect(id).toMatch(/^[a-z0-9-]+-[a-z2-7]{6}$/);
  expect((await fixture.listing(id)).id).toBe(id);
});
