/**
 * One way to break each check of the on-chain program: the file under programs/marketplace/src, what the mutant does,
 * the text to find (exactly once) and the text that replaces it. `equivalent` says why a mutant behaves as the program,
 * `also` is what must be replaced with it, for the broken program to compile.
 *
 * @typedef {{ find: string, replace: string }} Replacement
 * @typedef {Replacement & { file: string, does: string, equivalent?: string, also?: Replacement }} Mutant
 */

/** @type {(file: string) => (does: string, find: string, replace: string, equivalent?: string) => Mutant} */
const inFile = (file) => (does, find, replace, equivalent) => ({
  file,
  does,
  find,
  replace,
  ...(equivalent === undefined ? {} : { equivalent }),
});

const lib = inFile('lib.rs');
const error = inFile('error.rs');
const description = inFile('description.rs');
const reader = inFile('reader.rs');
const wallets = inFile('accounts/wallets.rs');
const stored = inFile('accounts/stored.rs');
const created = inFile('accounts/created.rs');
const pda = inFile('pda.rs');
const runtime = inFile('runtime.rs');
const money = inFile('money.rs');
const chargeWindow = inFile('charge_window.rs');
const pauseHistory = inFile('pause_history.rs');
const state = inFile('state/mod.rs');
const credential = inFile('state/access_credential.rs');
const escrow = inFile('state/escrow.rs');
const listing = inFile('state/listing.rs');
const balance = inFile('state/per_query_balance.rs');
const protocol = inFile('state/protocol.rs');
const sale = inFile('instructions/sale.rs');
const initializeProtocol = inFile('instructions/initialize_protocol.rs');
const updateProtocol = inFile('instructions/update_protocol.rs');
const createListing = inFile('instructions/create_listing.rs');
const updateListing = inFile('instructions/update_listing.rs');
const closeListing = inFile('instructions/close_listing.rs');
const purchaseOneTime = inFile('instructions/purchase_one_time.rs');
const purchaseSubscription = inFile('instructions/purchase_subscription.rs');
const purchasePerQuery = inFile('instructions/purchase_per_query.rs');
const renewSubscription = inFile('instructions/renew_subscription.rs');
const topupBalance = inFile('instructions/topup_balance.rs');
const charge = inFile('instructions/charge.rs');
const consumeQuery = inFile('instructions/consume_query.rs');
const consumeQueries = inFile('instructions/consume_queries.rs');
const revokeAccess = inFile('instructions/revoke_access.rs');
const revokePerQuery = inFile('instructions/revoke_per_query_access.rs');
const withdrawEarnings = inFile('instructions/withdraw_earnings.rs');
const verifyAccess = inFile('instructions/verify_access.rs');

/** What hands a treasury of another kind to the charges, which take one that is writable. */
const ANY_TREASURY = {
  find: 'treasury: &accounts.treasury,',
  replace: 'treasury: unsafe { &*core::ptr::from_ref(&accounts.treasury).cast::<crate::accounts::Payee>() },',
};

/** @type {Mutant[]} */
const WRITTEN = [
  // --- Data ----------------------------------------------------------------------------------------------------------
  lib(
    'takes data shorter than a discriminator',
    'return Err(Error::InstructionMissing.into());',
    'return Ok(());',
  ),
  lib('takes an unknown instruction', '_ => Err(Error::InstructionFallbackNotFound.into()),', '_ => Ok(()),'),
  description('takes bytes behind the arguments', 'reader.finish()?;', 'let _ = reader;'),
  description('takes too few accounts', 'if input.accounts.len() < ACCOUNT_COUNT {', 'if false {'),
  reader(
    'reads past the end as nothing',
    'if size > self.rest.len() {',
    'if size > self.rest.len() { return Ok(&[0; 64]); }\n        if false {',
  ),
  reader(
    'takes any byte for true',
    '_ => Err(Error::InstructionDidNotDeserialize.into()),\n        }\n    }\n}\n\nimpl Argument for [u8; 16]',
    '_ => Ok(true),\n        }\n    }\n}\n\nimpl Argument for [u8; 16]',
  ),
  reader(
    'takes any tag for a rental model',
    'RentalModel::from_tag(tag).ok_or_else(|| Error::InstructionDidNotDeserialize.into())',
    'Ok(RentalModel::from_tag(tag).unwrap_or(RentalModel::ONE_TIME))',
  ),
  reader(
    'takes text that is not UTF-8',
    'core::str::from_utf8(bytes).map_err(|_| Error::InstructionDidNotDeserialize.into())',
    'Ok(unsafe { core::str::from_utf8_unchecked(bytes) })',
  ),

  // --- Structure of accounts -----------------------------------------------------------------------------------------
  wallets(
    'takes wallets that are not writable',
    'require(!$writable || view.is_writable(), Error::ConstraintMut)?;\n                    require(!$signer',
    'require(!$signer',
  ),
  wallets(
    'takes wallets that did not sign',
    'require(!$signer || view.is_signer(), Error::AccountNotSigner)?;',
    '',
  ),
  stored(
    'takes accounts of the program that are not writable',
    'require(!$writable || view.is_writable(), Error::ConstraintMut)?;\n                check_state',
    'check_state',
  ),
  stored(
    'takes accounts of other programs',
    'if !is_owned_by(&view, program_id) {\n        return Err(not_ours::<T>(&view));',
    'if false {\n        return Err(not_ours::<T>(&view));',
  ),
  stored(
    'calls every foreign account missing',
    'if is_missing(view) { T::MISSING }',
    'if true { T::MISSING }',
  ),
  stored('calls no account missing', 'if is_missing(view) { T::MISSING }', 'if false { T::MISSING }'),
  stored(
    'takes accounts of another size',
    'if view.data_len() != T::SIZE {',
    'if view.data_len() < T::SIZE {',
  ),
  stored(
    'takes accounts of another type',
    'require(discriminator == T::DISCRIMINATOR, Error::AccountDiscriminatorMismatch)?;',
    'let _ = discriminator;',
  ),
  stored(
    'takes accounts of another layout version',
    'require(state.version() == ACCOUNT_VERSION, Error::AccountDidNotDeserialize)',
    'Ok(())',
  ),
  stored(
    'calls an account with data missing',
    'is_owned_by(view, &SYSTEM_PROGRAM) && view.is_data_empty()',
    'is_owned_by(view, &SYSTEM_PROGRAM)',
  ),
  stored(
    'calls an empty account of a program missing',
    'is_owned_by(view, &SYSTEM_PROGRAM) && view.is_data_empty()',
    'view.is_data_empty()',
  ),
  wallets(
    'takes a treasury that a program owns',
    'require(is_owned_by(&self.0, &SYSTEM_PROGRAM), Error::AccountNotSystemOwned)?;',
    '',
  ),
  wallets(
    'takes a treasury that is not rent-exempt',
    'require(self.0.lamports() >= minimum, Error::ConstraintRentExempt)',
    'let _ = minimum;\n        Ok(())',
  ),
  wallets(
    'refuses a treasury with exactly its rent',
    'self.0.lamports() >= minimum',
    'self.0.lamports() > minimum',
  ),
  wallets(
    'reckons the rent of a treasury without its data',
    'runtime::rent_exempt_minimum(self.0.data_len() as u64)?',
    'runtime::rent_exempt_minimum(0)?',
  ),
  wallets(
    'never sees a treasury left out',
    'let is_given = !same(view.address(), program_id);',
    'let is_given = { let _ = program_id; true };',
  ),
  wallets(
    'never sees a treasury given',
    'let is_given = !same(view.address(), program_id);',
    'let is_given = { let _ = program_id; false };',
  ),
  wallets(
    'takes any account for the System program',
    'require(same(view.address(), &SYSTEM_PROGRAM), Error::InvalidProgramId)?;',
    '',
  ),
  stored(
    'takes existing accounts at any address',
    'require(pda::matches(view.address(), seeds, bump, program_id), Error::ConstraintSeeds)',
    '{ let _ = (seeds, bump, program_id); Ok(()) }',
  ),
  stored(
    'takes existing accounts at any address where speed counts',
    'require(same(&pda::derive(seeds, bump, program_id), view.address()), Error::ConstraintSeeds)',
    '{ let _ = (seeds, bump, program_id, view); Ok(()) }',
  ),
  stored('takes revoked credentials', '(**self).check_usable()', 'Ok(())'),
  stored(
    'reads accounts that may be missing without a look at their type',
    'check_layout::<T>(&view)?;\n            true',
    'true',
  ),
  stored(
    'reads accounts of other programs as missing',
    'require(is_missing(&view), Error::AccountOwnedByWrongProgram)?;',
    '',
  ),
  stored(
    'reads accounts that may be missing at any address',
    '    ) -> Outcome {\n        if self.exists {\n            check_stored_bump_inline',
    '    ) -> Outcome {\n        if false {\n            check_stored_bump_inline',
  ),
  created(
    'creates accounts that are not writable',
    'require(view.is_writable(), Error::ConstraintMut)?;\n        Ok(New',
    'Ok(New',
  ),
  created(
    'does not look whether an account to create exists',
    'if !is_owned_by(&self.view, self.program_id) {\n            return Ok(());',
    'if true {\n            return Ok(());',
  ),
  created(
    'does not look what an account to create is',
    'check_layout::<T>(&self.view)?;\n        // SAFETY: size and type were just checked.',
    '// SAFETY: not checked.',
  ),
  created('creates over what exists', 'unsafe { state_of::<T>(&self.view) }.refuse_existing()', 'Ok(())'),
  created(
    'pays rent again for a prefunded address',
    'rent.saturating_sub(present)',
    '{ let _ = present; rent }',
  ),
  created(
    'counts what is there towards the deposit',
    'money::add(rent.saturating_sub(present), new.extra)?',
    'money::add(rent, new.extra)?.saturating_sub(present)',
  ),
  created(
    'does not pay the deposit',
    'money::add(rent.saturating_sub(present), new.extra)?',
    'rent.saturating_sub(present)',
  ),
  created(
    'lets rent and deposit overflow',
    'money::add(rent.saturating_sub(present), new.extra)?',
    'rent.saturating_sub(present).wrapping_add(new.extra)',
  ),
  created('cannot create at a prefunded address', 'if present == 0 {', 'if true {'),
  stored(
    'leaves lamports in what it closes',
    'money::move_lamports(view, to, view.lamports())?;',
    'money::move_lamports(view, to, view.lamports() - 1)?;',
  ),
  stored('does not close what it empties', 'unsafe { view.close_unchecked() };', 'let _ = &mut view;'),

  // --- Addresses -----------------------------------------------------------------------------------------------------
  pda(
    'takes any address for an existing account',
    'same(&derive(seeds, bump, program_id), address)\n',
    '{ let _ = (seeds, bump, program_id, address); true }\n',
  ),
  pda(
    'takes bumps that are not canonical',
    'return same(&candidate, address).then_some(bump);',
    'if same(&candidate, address) { return Some(bump); }',
  ),
  pda(
    'takes any address for a new account',
    'return same(&candidate, address).then_some(bump);',
    'let _ = address; return Some(bump);',
  ),
  pda('does not look at the curve', 'if !is_on_curve(&candidate) {', 'if true {'),
  description(
    'does not look whose a credential is where speed counts',
    'if !($($crate::description::repeats_seed!($args, state, $kind $seed))&&+) {',
    'let _ = state; if false {',
  ),
  description(
    'takes a credential of another listing where speed counts',
    '$crate::layout::same(&$state.$account, $account.address())',
    'true',
  ),
  description(
    'takes the credential of another buyer than asked about',
    '$crate::layout::same(&$state.$arg, $args.$arg)',
    'true',
  ),
  description(
    'takes any account for the treasury',
    'if !$crate::layout::same(&$owner.$account, $account.address()) {',
    'if false {',
  ),

  // --- Rent ----------------------------------------------------------------------------------------------------------
  runtime('takes any rent', 'if lamports_per_byte > MAX_LAMPORTS_PER_BYTE {', 'if false {'),
  runtime(
    'refuses the highest rent',
    'if lamports_per_byte > MAX_LAMPORTS_PER_BYTE {',
    'if lamports_per_byte >= MAX_LAMPORTS_PER_BYTE {',
  ),
  runtime('does not know the older form of rent', 'Ok(yearly << 1)', 'Ok(yearly)'),
  runtime('takes any threshold of rent', 'Err(ProgramError::UnsupportedSysvar.into())', 'Ok(yearly)'),
  runtime("forgets an account's overhead", '(size + ACCOUNT_OVERHEAD)', '(size + ACCOUNT_OVERHEAD - 1)'),

  // --- Money ---------------------------------------------------------------------------------------------------------
  money(
    'lets the fee be above its cap',
    'pub const MAX_FEE_BPS: u16 = 1_000;',
    'pub const MAX_FEE_BPS: u16 = 1_001;',
  ),
  money(
    'lets a price be below the minimum',
    'pub const MIN_PRICE: u64 = 1_000;',
    'pub const MIN_PRICE: u64 = 999;',
  ),
  money(
    'lets a price be above the maximum',
    'pub const MAX_PRICE: u64 = 1_000_000_000_000_000;',
    'pub const MAX_PRICE: u64 = 1_000_000_000_000_001;',
  ),
  money(
    'takes no fee of what is left over of 10,000',
    ' + (price % BASIS_POINTS).wrapping_mul(bps) / BASIS_POINTS',
    '',
  ),
  money(
    'rounds the fee up',
    '(price % BASIS_POINTS).wrapping_mul(bps) / BASIS_POINTS',
    '((price % BASIS_POINTS).wrapping_mul(bps) + BASIS_POINTS - 1) / BASIS_POINTS',
  ),
  money('takes any duration', 'if !SUBSCRIPTION_DURATIONS.contains(&duration) {', 'if false {'),
  money(
    'sells another duration',
    '[u64; 3] = [2_592_000, 7_776_000, 31_536_000]',
    '[u64; 3] = [2_592_000, 7_776_000, 31_536_001]',
  ),
  money('does not charge what is left over of a period', 'Ok(whole + part)', '{ let _ = part; Ok(whole) }'),
  money(
    'rounds the cost of a window up',
    '/ SUBSCRIPTION_PERIOD;\n    Ok',
    '/ SUBSCRIPTION_PERIOD + 1;\n    Ok',
  ),
  money(
    'wraps sums',
    'a.checked_add(b).ok_or_else(|| Error::ArithmeticOverflow.into())',
    'Ok(a.wrapping_add(b))',
  ),
  money(
    'wraps differences',
    'a.checked_sub(b).ok_or_else(|| Error::ArithmeticOverflow.into())',
    'Ok(a.wrapping_sub(b))',
    'Every difference is of amounts that were compared before, or that the conservation of lamports orders: the check is a second line of defence that no sequence can reach.',
  ),
  money(
    'does not take what it gives',
    'from.set_lamports(subtract(from.lamports(), amount)?);',
    'let _ = &mut from;',
  ),
  money('does not give what it takes', 'to.set_lamports(add(to.lamports(), amount)?);', 'let _ = &mut to;'),

  // --- The charge window ---------------------------------------------------------------------------------------------
  chargeWindow('lets a sequence jump any distance', 'if jump > MAX_JUMP {', 'if false {'),
  chargeWindow(
    'lets a sequence jump one too far',
    'pub const MAX_JUMP: u64 = 1_024;',
    'pub const MAX_JUMP: u64 = 1_025;',
  ),
  chargeWindow('does not mark the highest sequence', 'window[0] |= 1;', ''),
  chargeWindow('does not age the window', 'shift::<BITS>(window, jump);', ''),
  chargeWindow(
    'takes a sequence that left the window',
    'if word >= WORDS {\n        return Err(Error::RunAlreadyConsumed);',
    'if word >= WORDS {\n        return Ok(highest);',
  ),
  chargeWindow('forgets a word of the window', 'if word >= WORDS {', 'if word >= WORDS - 1 {'),
  chargeWindow('charges a sequence twice', 'if window[word] & bit != 0 {', 'if false {'),
  chargeWindow('does not mark a late sequence', 'window[word] |= bit;', 'let _ = bit;'),
  chargeWindow(
    'keeps the window over a long jump',
    'let mut words = (by / BITS).min(WORDS as u64);',
    'let mut words = (by / BITS).min(WORDS as u64 - 1);',
  ),
  chargeWindow('does not age by whole words', '*window = [0, window[0], window[1], window[2]];', ''),
  chargeWindow('does not age by bits', 'if bits > 0 {', 'if false {'),
  chargeWindow('loses the first carry', '((w1 << bits) | (w0 >> over)) & mask', '(w1 << bits) & mask'),
  chargeWindow('loses the second carry', '((w2 << bits) | (w1 >> over)) & mask', '(w2 << bits) & mask'),
  chargeWindow('loses the third carry', '((w3 << bits) | (w2 >> over)) & mask', '(w3 << bits) & mask'),

  // --- State ---------------------------------------------------------------------------------------------------------
  state(
    'creates a protocol or a listing anew',
    'Err(Error::AccountDiscriminatorAlreadySet.into())',
    'Ok(())',
  ),
  credential(
    'names a revoked credential only in use',
    'self.check_usable()?;\n            if self.is_expired',
    'if self.is_expired',
  ),
  credential('does not name an expired credential', 'if self.is_expired(runtime::now()?) {', 'if false {'),
  credential(
    'takes an existing credential for none',
    'Err(Error::InvalidAccessType.into())\n        }\n\n        #[inline(always)]\n        fn check_usable',
    'Ok(())\n        }\n\n        #[inline(always)]\n        fn check_usable',
  ),
  credential('takes every credential for valid', 'if self.valid.is_set() {', 'if true {'),
  credential('ends a subscription a second late', 'self.expires_at <= now', 'self.expires_at < now'),
  credential(
    'ends every kind of access',
    'self.rental_model == RentalModel::SUBSCRIPTION && self.expires_at <= now',
    'self.expires_at <= now',
  ),
  credential(
    'takes a credential of any model',
    'if self.rental_model == model {',
    'if { let _ = model; true } {',
  ),
  escrow('does not book earnings', 'self.earnings_lamports = add(self.earnings_lamports, lamports)?;', ''),
  escrow(
    'lets total earnings wrap',
    'self.total_earned_lamports = add(self.total_earned_lamports, lamports)?;',
    'self.total_earned_lamports = { self.total_earned_lamports }.wrapping_add(lamports);',
  ),
  listing('takes a URI of any length', 'if uri.len() > MAX_METADATA_URI_LEN {', 'if false {'),
  listing(
    'takes a URI one byte too long',
    'pub const MAX_METADATA_URI_LEN: usize = 200;',
    'pub const MAX_METADATA_URI_LEN: usize = 201;',
  ),
  listing(
    'refuses the longest URI',
    'if uri.len() > MAX_METADATA_URI_LEN {',
    'if uri.len() >= MAX_METADATA_URI_LEN {',
  ),
  listing('leaves bytes of the old URI', 'room.fill(0);', 'let _ = room;'),
  listing(
    "does not keep the minimum for a floor of the protocol's",
    'min_query_price.max(MIN_PRICE)',
    'min_query_price',
    "The protocol's floor is never below the minimum: it is checked when it is set.",
  ),
  listing(
    "ignores the protocol's floor",
    'if is_per_query { min_query_price.max(MIN_PRICE) } else { MIN_PRICE }',
    '{ let _ = min_query_price; MIN_PRICE }',
  ),
  listing(
    "puts the protocol's floor under every model",
    'if is_per_query { min_query_price.max(MIN_PRICE) } else { MIN_PRICE }',
    'min_query_price.max(MIN_PRICE)',
  ),
  listing('takes a price below the floor', 'if price < floor {', 'if { let _ = floor; false } {'),
  listing('refuses the floor', 'if price < floor {', 'if price <= floor {'),
  listing(
    'takes any price above',
    'if price > MAX_PRICE || min_deposit > MAX_PRICE {',
    'if min_deposit > MAX_PRICE {',
  ),
  listing(
    'takes any minimum above',
    'if price > MAX_PRICE || min_deposit > MAX_PRICE {',
    'if price > MAX_PRICE {',
  ),
  listing('takes a minimum below the price', 'if is_per_query && min_deposit < price {', 'if false {'),
  listing(
    'refuses the price as minimum',
    'if is_per_query && min_deposit < price {',
    'if is_per_query && min_deposit <= price {',
  ),
  listing(
    'asks a minimum of every model',
    'if is_per_query && min_deposit < price {',
    'if min_deposit < price {',
  ),
  listing('stores a minimum for every model', 'if is_per_query { min_deposit } else { 0 }', 'min_deposit'),
  listing('remembers every price', 'if self.price_lamports != before {', 'if true {'),
  listing(
    'remembers the new price for the old',
    'self.previous_price_lamports = before;',
    'self.previous_price_lamports = self.price_lamports;',
  ),
  listing('does not date a change of the price', 'self.price_changed_at = now;', 'let _ = now;'),
  listing(
    'charges the previous price alone',
    'if price == self.price_lamports || self.was_price_lately(price)? {',
    'if self.was_price_lately(price)? {',
  ),
  listing(
    'charges the present price alone',
    'if price == self.price_lamports || self.was_price_lately(price)? {',
    'if price == self.price_lamports {',
  ),
  listing(
    'charges any price shortly after a change',
    'price != self.previous_price_lamports || self.price_changed_at == 0',
    '{ let _ = price; self.price_changed_at == 0 }',
  ),
  listing(
    'takes no price for a previous one',
    'price != self.previous_price_lamports || self.price_changed_at == 0',
    'price != self.previous_price_lamports',
  ),
  listing(
    'charges the previous price for ever',
    'Ok(runtime::now()?.saturating_sub(self.price_changed_at) < PREVIOUS_PRICE_SECONDS)',
    'Ok(runtime::now()?.saturating_sub(self.price_changed_at) < i64::MAX)',
  ),
  listing(
    'charges the previous price at the end of its time',
    '< PREVIOUS_PRICE_SECONDS)',
    '<= PREVIOUS_PRICE_SECONDS)',
  ),
  listing('gives the previous price a second less', 'i64 = 900;', 'i64 = 899;'),
  listing(
    'starts the time of a pause anew',
    'if self.status == ListingStatus::ACTIVE {\n            self.status = ListingStatus::PAUSED;',
    'if true {\n            self.status = ListingStatus::PAUSED;',
  ),
  listing('does not date a pause', 'self.paused_at = now;', 'let _ = now;'),
  listing(
    'keeps the time of a pause',
    'self.status = ListingStatus::ACTIVE;\n            self.paused_at = 0;',
    'self.status = ListingStatus::ACTIVE;',
  ),
  listing(
    'counts the time on sale for a pause that ends',
    'if self.status == ListingStatus::PAUSED {\n            let history',
    'if true {\n            let history',
  ),
  listing('does not remember half days of pause', 'self.pause_units = history.units;', ''),
  listing('does not date what it remembers of pauses', 'self.pause_latest = history.latest;', ''),
  listing('does not remember the rest of a pause', 'self.pause_remainder = history.remainder;', ''),
  listing(
    'counts the time on sale for a pause that goes on',
    '(self.status == ListingStatus::PAUSED).then_some(self.paused_at)',
    'Some(self.paused_at)',
  ),
  listing(
    'does not count a pause that goes on',
    '(self.status == ListingStatus::PAUSED).then_some(self.paused_at)',
    'None',
  ),
  listing(
    'sells what is paused or closed',
    'if self.status == ListingStatus::ACTIVE {\n            Ok(())',
    'if true {\n            Ok(())',
  ),
  listing(
    'sells what is paused',
    'if self.status == ListingStatus::ACTIVE {\n            Ok(())',
    'if self.status != ListingStatus::CLOSED {\n            Ok(())',
  ),
  listing('takes a closed listing for open', 'if self.status == ListingStatus::CLOSED {', 'if false {'),
  listing(
    'takes a paused listing for closed',
    'if self.status == ListingStatus::CLOSED {',
    'if self.status != ListingStatus::ACTIVE {',
  ),
  listing('sells a listing by any model', 'if self.rental_model == model {', 'if { let _ = model; true } {'),
  listing(
    'takes anybody for the creator',
    'if crate::layout::same(signer, &self.creator) {',
    'if { let _ = signer; true } {',
  ),
  listing(
    'forgets the longest subscription',
    '{ self.latest_subscription_expiry }.max(expires_at)',
    'expires_at',
  ),

  listing(
    'does not remember subscriptions',
    '{ self.latest_subscription_expiry }.max(expires_at)',
    '{ let _ = expires_at; { self.latest_subscription_expiry } }',
  ),

  balance(
    'lets a balance wrap',
    'self.balance_lamports = add(self.balance_lamports, lamports)?;',
    'self.balance_lamports = { self.balance_lamports }.wrapping_add(lamports);',
    'The balance is never above all that was ever deposited, whose sum is checked beside it.',
  ),
  balance(
    'lets total deposits wrap',
    'self.total_deposited_lamports = add(self.total_deposited_lamports, lamports)?;',
    'self.total_deposited_lamports = { self.total_deposited_lamports }.wrapping_add(lamports);',
  ),
  balance('does not keep the window', 'self.window = window;', 'let _ = window;'),
  balance("ignores the buyer's limit", 'if price > self.max_price_lamports {', 'if false {'),
  balance(
    "refuses the buyer's limit",
    'if price > self.max_price_lamports {',
    'if price >= self.max_price_lamports {',
  ),
  balance('charges what the balance does not cover', 'if price > self.balance_lamports {', 'if false {'),
  balance(
    'does not charge the last lamport',
    'if price > self.balance_lamports {',
    'if price >= self.balance_lamports {',
  ),
  protocol(
    'takes all zeros for a wallet',
    'same(signer, role) && !same(signer, &NO_ADDRESS)',
    'same(signer, role)',
  ),
  protocol(
    'takes anybody for the authority',
    'if same(signer, &self.authority) || is_named(signer, &self.next_authority) {',
    'if { let _ = signer; true } {',
  ),
  protocol(
    'does not know the next authority',
    'if same(signer, &self.authority) || is_named(signer, &self.next_authority) {',
    'if same(signer, &self.authority) {',
  ),
  protocol(
    'does not know the authority',
    'if same(signer, &self.authority) || is_named(signer, &self.next_authority) {',
    'if is_named(signer, &self.next_authority) {',
  ),
  protocol('sells while paused', 'if self.paused.is_set() {', 'if false {'),

  // --- Sales ---------------------------------------------------------------------------------------------------------
  sale(
    'takes no fee',
    'let fee = money::fee(*price, *fee_bps);',
    'let fee = money::fee(*price, *fee_bps) & 0;',
  ),
  sale('earns the fee too', 'escrow.earn(money::subtract(*price, fee)?)?;', 'escrow.earn(*price)?;'),
  sale('takes no payment', 'pay(buyer, escrow.view(), *price)?;', 'let _ = buyer;'),
  sale(
    'keeps the fee in the escrow',
    'money::move_lamports(escrow.view(), treasury.view(), fee)?;',
    'let _ = treasury;',
  ),
  sale('takes any price from the payer', 'if price > max_price {', 'if false {'),
  sale('refuses the agreed price itself', 'if price > max_price {', 'if price >= max_price {'),
  sale(
    'lets an expiry overflow',
    'now.checked_add(duration as i64).ok_or_else(|| Error::ArithmeticOverflow.into())',
    'Ok(now.wrapping_add(duration as i64))',
  ),
  sale('grants a credential that is not valid', 'state.valid = Flag::new(true);', ''),
  sale('grants to no buyer', 'state.buyer = *grant.buyer.address();', ''),
  purchaseOneTime('sells One-Time while the protocol is paused', 'accounts.protocol.check_running()?;', ''),
  purchaseOneTime('sells One-Time of an inactive listing', 'accounts.listing.check_active()?;', ''),
  purchaseOneTime('sells One-Time of any model', 'accounts.listing.check_model(RentalModel::ONE_TIME)?;', ''),
  purchaseOneTime(
    'sells One-Time above the agreed price',
    'check_agreed(price, args.max_price_lamports)?;',
    'let _ = args;',
  ),
  purchaseSubscription(
    'sells subscriptions while the protocol is paused',
    'accounts.protocol.check_running()?;',
    '',
  ),
  purchaseSubscription('sells subscriptions of an inactive listing', 'accounts.listing.check_active()?;', ''),
  purchaseSubscription(
    'sells subscriptions of any model',
    'accounts.listing.check_model(RentalModel::SUBSCRIPTION)?;',
    '',
  ),
  purchaseSubscription(
    'sells subscriptions above the agreed price',
    'check_agreed(price, args.max_price_lamports)?;',
    '',
  ),
  purchaseSubscription('does not remember a purchase', 'accounts.listing.note_subscription(expires_at);', ''),
  renewSubscription('renews while the protocol is paused', 'accounts.protocol.check_running()?;', ''),
  renewSubscription('renews of an inactive listing', 'accounts.listing.check_active()?;', ''),
  renewSubscription(
    'renews any credential',
    'accounts.access_credential.check_model(RentalModel::SUBSCRIPTION)?;',
    '',
  ),
  renewSubscription(
    'sells lost time',
    'if expires_at <= accounts.access_credential.expires_at {',
    'if false {',
  ),
  renewSubscription(
    'sells no time',
    'if expires_at <= accounts.access_credential.expires_at {',
    'if expires_at < accounts.access_credential.expires_at {',
  ),
  renewSubscription('renews above the agreed price', 'check_agreed(price, args.max_price_lamports)?;', ''),
  renewSubscription('does not extend', 'accounts.access_credential.expires_at = expires_at;', ''),
  renewSubscription('does not remember a renewal', 'accounts.listing.note_subscription(expires_at);', ''),
  purchasePerQuery('sells Per-Task while the protocol is paused', 'accounts.protocol.check_running()?;', ''),
  purchasePerQuery('sells Per-Task of an inactive listing', 'accounts.listing.check_active()?;', ''),
  purchasePerQuery(
    'sells Per-Task of any model',
    'accounts.listing.check_model(RentalModel::PER_QUERY)?;',
    '',
  ),
  purchasePerQuery(
    'sells Per-Task above the agreed price',
    'check_agreed(accounts.listing.price_lamports, args.max_price_lamports)?;',
    '',
  ),
  purchasePerQuery(
    'takes a deposit below the minimum',
    'if args.deposit_lamports < accounts.listing.min_deposit_lamports {',
    'if false {',
  ),
  purchasePerQuery(
    'refuses the minimum deposit',
    'if args.deposit_lamports < accounts.listing.min_deposit_lamports {',
    'if args.deposit_lamports <= accounts.listing.min_deposit_lamports {',
  ),
  purchasePerQuery('does not book the deposit', 'balance.deposit(args.deposit_lamports)?;', ''),
  topupBalance('tops up while the protocol is paused', 'accounts.protocol.check_running()?;', ''),
  topupBalance('tops up for an inactive listing', 'accounts.listing.check_active()?;', ''),
  topupBalance(
    'tops up below the price',
    'check_agreed(accounts.listing.price_lamports, args.max_price_lamports)?;',
    '',
  ),
  topupBalance('does not book a top-up', 'balance.deposit(args.amount_lamports)?;', ''),
  topupBalance(
    "does not replace the buyer's limit",
    'balance.max_price_lamports = args.max_price_lamports;',
    '',
  ),
  topupBalance(
    'books a top-up that is not paid',
    'pay(&accounts.buyer, account, args.amount_lamports)?;',
    'let _ = account;',
  ),

  // --- Pauses --------------------------------------------------------------------------------------------------------
  pauseHistory('adds up the pauses of 29 days', 'u64 = 2_592_000;', 'u64 = 2_505_600;'),
  pauseHistory('counts in other units', 'u64 = 43_200;', 'u64 = 43_000;'),
  pauseHistory('counts half a day more', '(1 << (WINDOW_UNITS + 1)) - 1', '(1 << (WINDOW_UNITS + 2)) - 1'),
  pauseHistory('counts half a day less', '(1 << (WINDOW_UNITS + 1)) - 1', '(1 << WINDOW_UNITS) - 1'),
  pauseHistory(
    'lets the number of a half day wrap',
    '(seconds / PAUSE_UNIT_SECONDS).min(u32::MAX as u64) as u32',
    '(seconds / PAUSE_UNIT_SECONDS) as u32',
  ),
  pauseHistory('takes times before 1970 for late ones', 'time.max(0) as u64', 'time as u64'),
  pauseHistory(
    'lets the calendar go back',
    'half_day(now).max(self.latest);\n        let age = (latest - self.latest) as u64;',
    'half_day(now);\n        let age = latest.saturating_sub(self.latest) as u64;',
  ),
  pauseHistory('forgets all half a day early', 'if age > WINDOW_UNITS {', 'if age >= WINDOW_UNITS {'),
  pauseHistory('never forgets all', 'if age > WINDOW_UNITS {', 'if age > 63 {'),
  pauseHistory(
    'never forgets the rest of a pause',
    'units: 0, latest, remainder: 0 }',
    'units: 0, latest, remainder: self.remainder }',
  ),
  pauseHistory(
    'never forgets half days',
    'units: (self.units << age) & KEPT, latest',
    'units: self.units, latest',
  ),
  pauseHistory(
    'does not forget the oldest half days',
    'units: (self.units << age) & KEPT, latest',
    'units: self.units << age, latest',
  ),
  pauseHistory(
    'does not forget when a pause ends',
    'mut units, latest, remainder } = self.aged(to);',
    'mut units, latest, remainder } = self;\n        let latest = latest.max(half_day(to));',
  ),
  pauseHistory(
    'does not add to the rest of the last pause',
    'remainder as u64 + to.saturating_sub(since_1970(from));',
    '{ let _ = remainder; to.saturating_sub(since_1970(from)) };',
  ),
  pauseHistory(
    'dates half days of pause by the end of the pause',
    'half_day(to.saturating_sub(remainder))',
    'half_day(to)',
  ),
  pauseHistory(
    'adds a half day to a pause of 30 days',
    'if completed > WINDOW_UNITS {',
    'if completed >= WINDOW_UNITS {',
  ),
  pauseHistory('adds a half day too many', '(1 << completed) - 1', '(2 << completed) - 1'),
  pauseHistory('adds a half day too few', '(1 << completed) - 1', '(1 << completed) >> 1'),
  pauseHistory(
    'replaces half days by those of the last pause',
    'units |= (run << age) & KEPT;',
    'units = (run << age) & KEPT;',
  ),
  pauseHistory('adds half days beyond the window', 'units |= (run << age) & KEPT;', 'units |= run << age;'),
  pauseHistory(
    'counts what is long over',
    'let PauseHistory { units, remainder, .. } = self.aged(now);',
    'let PauseHistory { units, remainder, .. } = self;',
  ),
  pauseHistory(
    'does not count half days',
    '(units.count_ones() as u64).wrapping_mul(PAUSE_UNIT_SECONDS) + ',
    '(units & 0) + ',
  ),
  pauseHistory(
    'does not count the rest of a pause',
    '+ remainder as u64 + ongoing',
    '+ { let _ = remainder; ongoing }',
  ),

  // --- Charges -------------------------------------------------------------------------------------------------------
  consumeQuery(
    'charges for anybody',
    'accounts.protocol.check_authority(accounts.authority.address())?;',
    '',
  ),
  consumeQuery('charges for a closed listing', 'accounts.listing.check_open()?;', ''),
  charge('does not look at the sequence', 'balance.consume_sequence(charge.sequence)?;', ''),
  charge('does not look at the price', 'self.listing.check_price(price)?;', ''),
  charge(
    'charges the present price, whatever the charge says',
    'let price = charge.price_lamports;\n        self.listing.check_price(price)?;',
    'let price = charge.price_lamports;\n        self.listing.check_price(price)?;\n        let price = self.listing.price_lamports;',
  ),
  charge(
    'looks at the price before the sequence',
    'balance.consume_sequence(charge.sequence)?;\n        let price = charge.price_lamports;\n        self.listing.check_price(price)?;',
    'let price = charge.price_lamports;\n        self.listing.check_price(price)?;\n        balance.consume_sequence(charge.sequence)?;',
  ),
  charge(
    'looks at the price behind limit and balance',
    'self.listing.check_price(price)?;\n        balance.check_covers(price)?;',
    'balance.check_covers(price)?;\n        self.listing.check_price(price)?;',
  ),
  charge('does not look at limit and balance', 'balance.check_covers(price)?;', ''),
  charge(
    'does not book a charge',
    'balance.balance_lamports = money::subtract(balance.balance_lamports, price)?;',
    '',
  ),
  charge(
    'lets total charges wrap',
    'balance.total_spent_lamports = money::add(balance.total_spent_lamports, price)?;',
    'balance.total_spent_lamports = { balance.total_spent_lamports }.wrapping_add(price);',
  ),
  charge('does not book what is earned', 'self.escrow.earn(earned)?;', ''),
  charge('earns the fee too', 'let earned = money::subtract(price, fee)?;', 'let earned = price;'),
  charge('does not move what is earned', 'money::move_lamports(account, self.escrow.view(), earned)?;', ''),
  charge('does not move the fee', 'money::move_lamports(account, self.treasury.view(), fee)?;', ''),
  consumeQuery('takes an authority that did not sign', 'authority: Signer,', 'authority: Wallet,'),
  {
    ...consumeQuery(
      'takes a treasury that is not writable',
      'treasury: Payee => named_by',
      'treasury: Wallet => named_by',
    ),
    also: ANY_TREASURY,
  },

  // --- Several charges at once ---------------------------------------------------------------------------------------
  lib('reads fewer accounts', 'const MAX_ACCOUNTS: usize = 64;', 'const MAX_ACCOUNTS: usize = 62;'),
  lib('reads more accounts', 'const MAX_ACCOUNTS: usize = 64;', 'const MAX_ACCOUNTS: usize = 65;'),
  reader(
    'leaves out the last charge',
    'core::slice::from_raw_parts(bytes.as_ptr().cast(), count)',
    'core::slice::from_raw_parts(bytes.as_ptr().cast(), count.saturating_sub(1))',
  ),
  error('puts the place of a charge a bit too high', '(place as u64) << 16', '(place as u64) << 17'),
  error(
    'puts a place beside an error of the runtime',
    'if self.0.get() > u16::MAX as u64 {',
    'if false {',
    'No step of a charge fails with an error of the runtime: the clock can always be read.',
  ),
  consumeQueries(
    'charges for anybody',
    'accounts.protocol.check_authority(accounts.authority.address())?;',
    '',
  ),
  consumeQueries(
    'takes an authority that did not sign',
    'authority: Signer,',
    'authority: crate::accounts::Wallet,',
  ),
  {
    ...consumeQueries(
      'takes a treasury that is not writable',
      'treasury: Payee => named_by',
      'treasury: crate::accounts::Wallet => named_by',
    ),
    also: ANY_TREASURY,
  },
  consumeQueries('charges for a closed listing', 'accounts.listing.check_open()?;', ''),
  consumeQueries(
    'leaves out charges without accounts',
    'return Err(Error::AccountNotEnoughKeys.into());',
    'break;',
  ),
  consumeQueries('takes the first rental for all', 'rentals = others;', 'let _ = others;'),
  consumeQueries(
    'does not say which charge it refuses',
    '.map_err(|refusal| refusal.of_charge(place))?;',
    '?;',
  ),
  consumeQueries('counts the charges from 0', '.of_charge(place)', '.of_charge(place.saturating_sub(1))'),
  consumeQueries('counts the charges from 2', 'let mut place = 0u16;', 'let mut place = 1u16;'),
  consumeQueries('leaves out a charge that is refused', '.of_charge(place))?;', '.of_charge(place)).ok();'),
  consumeQueries(
    'says a place where accounts are missing',
    'return Err(Error::AccountNotEnoughKeys.into());',
    'return Err(crate::error::Refusal::from(Error::AccountNotEnoughKeys).of_charge(place.saturating_add(1)));',
  ),
  consumeQueries(
    'takes a credential of another listing',
    'if !same(&credential.listing, listing) {',
    'if false {',
  ),
  consumeQueries('takes a revoked credential', 'credential.check_usable()?;', ''),
  consumeQueries(
    'looks whether a credential was revoked before whose it is',
    'if !same(&credential.listing, listing) {',
    'credential.check_usable()?;\n    if !same(&credential.listing, listing) {',
  ),
  consumeQueries('takes a balance of another buyer', 'same(&balance.buyer, &credential.buyer) && ', ''),
  consumeQueries('takes a balance of another listing', ' && same(&balance.listing, listing)', ''),

  // --- Protocol ------------------------------------------------------------------------------------------------------
  initializeProtocol(
    'takes ProgramData at any address',
    'if pda::canonical_bump(program_data.address(), &[program_id.as_ref()], &UPGRADEABLE_LOADER).is_none() {',
    'let _ = program_id;\n    if false {',
  ),
  initializeProtocol(
    'takes ProgramData of any owner',
    'if !program_data.belongs_to(&UPGRADEABLE_LOADER) {',
    'if false {',
  ),
  initializeProtocol(
    'takes ProgramData that is cut off',
    'if data.len() < AUTHORITY_AT + 32 || data[..4] != PROGRAM_DATA_TAG {',
    'if data.len() < 4 || data[..4] != PROGRAM_DATA_TAG {',
  ),
  initializeProtocol(
    "takes any account of the loader's",
    'if data.len() < AUTHORITY_AT + 32 || data[..4] != PROGRAM_DATA_TAG {',
    'let _ = PROGRAM_DATA_TAG;\n    if data.len() < AUTHORITY_AT + 32 {',
  ),
  initializeProtocol(
    'initialises a program without an upgrade authority',
    'if data[AUTHORITY_TAG_AT] != 1 || data',
    'let _ = AUTHORITY_TAG_AT;\n    if data',
  ),
  initializeProtocol(
    'lets anybody initialise',
    'data[AUTHORITY_TAG_AT] != 1 || data[AUTHORITY_AT..AUTHORITY_AT + 32] != *signer.as_ref()',
    '{ let _ = signer; data[AUTHORITY_TAG_AT] != 1 }',
  ),
  initializeProtocol(
    'does not look at the upgrade authority',
    'check_upgrade_authority(&accounts.program_data, accounts.upgrade_authority.address(), input.program_id)?;',
    '',
  ),
  initializeProtocol('initialises with any fee', 'check_fee(args.fee_bps)?;', ''),
  initializeProtocol(
    'initialises with any floor',
    'check_min_query_price(args.min_query_price_lamports)?;',
    '',
  ),
  initializeProtocol('initialises with any treasury', 'accounts.treasury.check_treasury()?;', ''),
  initializeProtocol('refuses the highest fee', 'if fee_bps > MAX_FEE_BPS {', 'if fee_bps >= MAX_FEE_BPS {'),
  initializeProtocol('takes a floor below the minimum', 'if price < MIN_PRICE {', 'if false {'),
  initializeProtocol('refuses the lowest floor', 'if price < MIN_PRICE {', 'if price <= MIN_PRICE {'),
  initializeProtocol('takes a floor above the maximum', 'if price > MAX_PRICE {', 'if false {'),
  initializeProtocol(
    'begins paused',
    'protocol.paused = Flag::new(false);',
    'protocol.paused = Flag::new(true);',
  ),
  updateProtocol('takes anybody for the admin', 'if !same(signer, &protocol.admin) {', 'if false {'),
  updateProtocol(
    'lets anybody accept the hand-over',
    'if !protocol.is_pending_admin(signer) {',
    'if false {',
  ),
  updateProtocol('does not hand over', 'protocol.admin = *signer;', ''),
  updateProtocol(
    'leaves the hand-over open',
    'protocol.admin = *signer;\n        protocol.pending_admin = NO_ADDRESS;',
    'let _ = NO_ADDRESS;\n        protocol.admin = *signer;',
  ),
  updateProtocol('takes any new treasury', 'treasury.check_treasury()?;', ''),
  updateProtocol('takes any new fee', 'check_fee(fee_bps)?;', ''),
  updateProtocol('takes any new floor', 'check_min_query_price(price)?;', ''),
  updateProtocol('takes an admin that did not sign', 'admin: Signer,', 'admin: crate::accounts::Wallet,'),

  // --- Listings ------------------------------------------------------------------------------------------------------
  createListing('takes an id of any length', 'check_id_length(input.data)?;', ''),
  createListing(
    'takes an empty id',
    '(1..=MAX_LISTING_ID_LEN).contains(&length)',
    '(0..=MAX_LISTING_ID_LEN).contains(&length)',
  ),
  createListing(
    'takes an id one byte too long',
    '(1..=MAX_LISTING_ID_LEN).contains(&length)',
    '(1..=MAX_LISTING_ID_LEN + 1).contains(&length)',
  ),
  createListing('lists while the protocol is paused', 'accounts.protocol.check_running()?;', ''),
  createListing(
    'lists what was not approved',
    'accounts.protocol.check_authority(accounts.authority.address())?;',
    '',
  ),
  createListing(
    'takes an authority that did not sign',
    'authority: Signer,',
    'authority: crate::accounts::Wallet,',
  ),
  createListing('takes any prices', '    )?;\n    listing.created_at', '    );\n    listing.created_at'),
  createListing(
    'takes any URI',
    'listing.set_metadata_uri(args.metadata_uri)?;',
    'let _ = listing.set_metadata_uri(args.metadata_uri);',
  ),
  createListing('does not tie the escrow to the listing', 'escrow.listing = address;', 'let _ = escrow;'),
  updateListing('lets anybody update', 'listing.check_creator(accounts.creator.address())?;', ''),
  updateListing('updates what is closed', 'listing.check_open()?;', ''),
  updateListing(
    'takes any new prices',
    'listing.set_prices(price, min_deposit, accounts.protocol.min_query_price_lamports)?;',
    'let _ = listing.set_prices(price, min_deposit, accounts.protocol.min_query_price_lamports);',
  ),
  updateListing(
    'does not look at a new minimum alone',
    'if args.price_lamports.is_some() || args.min_deposit_lamports.is_some() {',
    'if args.price_lamports.is_some() {',
  ),
  updateListing(
    'takes any new URI',
    'listing.set_metadata_uri(uri)?;',
    'let _ = listing.set_metadata_uri(uri);',
  ),
  updateListing('does not pause', 'Some(true) => listing.pause(now),', 'Some(true) => {}'),
  updateListing('does not resume', 'Some(false) => listing.resume(now),', 'Some(false) => {}'),
  updateListing('remembers no price', 'listing.note_price_change(before, now);', 'let _ = before;'),
  updateListing(
    'lets the revision wrap',
    'listing.revision = add(listing.revision, 1)?;',
    'listing.revision = { let _ = add; { listing.revision }.wrapping_add(1) };',
  ),
  updateListing('takes a creator that did not sign', 'creator: Signer,', 'creator: crate::accounts::Wallet,'),
  closeListing('lets anybody close', 'listing.check_creator(accounts.creator.address())?;', ''),
  closeListing('closes what is closed', 'listing.check_open()?;', ''),
  closeListing('closes over subscribers', 'if listing.latest_subscription_expiry > now {', 'if false {'),
  closeListing(
    'does not close at the end of the last subscription',
    'if listing.latest_subscription_expiry > now {',
    'if listing.latest_subscription_expiry >= now {',
  ),
  closeListing('closes over earnings', 'if accounts.escrow.earnings_lamports > 0 {', 'if false {'),
  closeListing(
    'asks donated earnings of one lamport',
    'if accounts.escrow.earnings_lamports > 0 {',
    'if accounts.escrow.earnings_lamports > 1 {',
  ),
  closeListing('does not close', 'listing.status = ListingStatus::CLOSED;', ''),
  closeListing('takes a creator that did not sign', 'creator: Signer,', 'creator: crate::accounts::Wallet,'),
  withdrawEarnings(
    'lets anybody withdraw',
    'accounts.listing.check_creator(accounts.creator.address())?;',
    '',
  ),
  withdrawEarnings('pays more than was earned', 'if amount > available {', 'if false {'),
  withdrawEarnings('keeps the last lamport', 'if amount > available {', 'if amount >= available {'),
  withdrawEarnings('pays out nothing', 'if amount == 0 {', 'if false {'),
  withdrawEarnings('does not book a withdrawal', 'accounts.escrow.earnings_lamports = remaining;', ''),
  withdrawEarnings(
    'takes a creator that did not sign',
    'creator: Payer,',
    'creator: crate::accounts::Payee,',
  ),
  withdrawEarnings(
    'takes a creator that is not writable',
    'creator: Payer,',
    'creator: crate::accounts::Signer,',
  ),

  // --- Revoking and reading ------------------------------------------------------------------------------------------
  revokeAccess(
    'lets anybody revoke',
    'if !same(accounts.admin.address(), &accounts.protocol.admin) {',
    'if false {',
  ),
  revokeAccess(
    'revokes Per-Task access and traps the balance',
    'if accounts.access_credential.rental_model == RentalModel::PER_QUERY {',
    'if false {',
  ),
  revokeAccess('does not revoke', 'accounts.access_credential.valid = Flag::new(false);', ''),
  revokeAccess('takes an admin that did not sign', 'admin: Signer,', 'admin: Wallet,'),
  revokePerQuery(
    'does not let the admin revoke',
    'if same(signer, &accounts.protocol.admin) || same(signer, &listing.creator) {',
    'if same(signer, &listing.creator) {',
  ),
  revokePerQuery(
    'does not let the creator revoke',
    'if same(signer, &accounts.protocol.admin) || same(signer, &listing.creator) {',
    'if same(signer, &accounts.protocol.admin) {',
  ),
  revokePerQuery('lets anybody reclaim', 'if !same(signer, accounts.buyer.address()) {', 'if false {'),
  revokePerQuery(
    'does not let a buyer of a closed listing end',
    'if listing.status == ListingStatus::CLOSED {',
    'if false {',
  ),
  revokePerQuery(
    'lets a buyer reclaim at the agreed price',
    'listing.price_lamports > accounts.per_query_balance.max_price_lamports',
    'listing.price_lamports >= accounts.per_query_balance.max_price_lamports',
  ),
  revokePerQuery(
    'does not let a buyer reclaim above the agreed price',
    'if listing.price_lamports > accounts.per_query_balance.max_price_lamports {',
    'if false {',
  ),
  revokePerQuery(
    'lets a buyer reclaim at once',
    'if listing.paused_seconds(runtime::now()?) >= RECLAIM_AFTER_PAUSED_SECONDS {',
    'if true {',
  ),
  revokePerQuery(
    'does not let a buyer reclaim after pauses',
    'if listing.paused_seconds(runtime::now()?) >= RECLAIM_AFTER_PAUSED_SECONDS {',
    'if false {',
  ),
  revokePerQuery(
    'does not let a buyer reclaim at the seventh day',
    'listing.paused_seconds(runtime::now()?) >= RECLAIM_AFTER_PAUSED_SECONDS',
    'listing.paused_seconds(runtime::now()?) > RECLAIM_AFTER_PAUSED_SECONDS',
  ),
  revokePerQuery('makes buyers wait for a second less', 'u64 = 604_800;', 'u64 = 604_799;'),
  revokePerQuery('pays out nothing', 'if refund == 0 {', 'if false {'),
  revokePerQuery('does not revoke', 'accounts.access_credential.valid = Flag::new(false);', ''),
  revokePerQuery('does not book a reclaim', 'accounts.per_query_balance.balance_lamports = 0;', ''),
  revokePerQuery(
    'takes a revoker that did not sign',
    'revoker: Signer,',
    'revoker: crate::accounts::Wallet,',
  ),
  revokePerQuery('takes a buyer that is not writable', 'buyer: Payee,', 'buyer: crate::accounts::Wallet,'),
  verifyAccess('lets a closed listing give access', 'listing.status == ListingStatus::CLOSED || ', ''),
  verifyAccess('lets a revoked credential give access', ' || !credential.valid.is_set()', ''),
  verifyAccess('does not look at the balance', 'balance.balance_lamports >= price && ', ''),
  verifyAccess("does not look at the buyer's limit", ' && balance.max_price_lamports >= price', ''),
  verifyAccess(
    'asks more than the price',
    'balance.balance_lamports >= price',
    'balance.balance_lamports > price',
  ),
  verifyAccess(
    'lets an expired subscription give access',
    'RentalModel::SUBSCRIPTION => Ok(!credential.is_expired(runtime::now()?)),',
    'RentalModel::SUBSCRIPTION => { runtime::now()?; Ok(true) }',
  ),
];

const INSTRUCTION_ACCOUNT = /^        (\w+): ([\w<>]+)\s*=> (\w+\([^)]*\)),$/gm;

/** Which address checks of single accounts cannot be told from their absence, and why. */
const EQUIVALENT_ADDRESSES = {};

/**
 * One mutant more for every account whose address an instruction checks: without that check.
 *
 * @param {(file: string) => string} read gives the text of a file of the crate
 * @param {string[]} files the files of the instructions
 * @returns {Mutant[]}
 */
function addressMutants(read, files) {
  return files.flatMap((file) =>
    [...read(file).matchAll(INSTRUCTION_ACCOUNT)].map(([find, account, kind]) => ({
      file,
      does: `takes ${account} at any address`,
      find,
      replace: `        ${account}: ${kind},`,
      ...EQUIVALENT_ADDRESSES[`${file} ${account}`],
    })),
  );
}

/**
 * All mutants of the program.
 *
 * @param {(file: string) => string} read gives the text of a file of the crate
 * @param {string[]} files the files of the instructions
 * @returns {Mutant[]}
 */
export function allMutants(read, files) {
  return [...WRITTEN, ...addressMutants(read, files)];
}
