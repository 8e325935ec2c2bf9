import { PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import * as z from 'zod';
import type { AccountState } from '../../ledger/account-state.js';
import type { Ledger } from '../../ledger/ledger.js';
import { accountJson, type AccountView } from '../views/account-view.js';
import { rpcMethod, type RpcMethods } from '../dispatcher.js';
import type { Json } from '../json.js';
import {
  accountViewFields,
  addressParam,
  contextConfig,
  contextFields,
  countParam,
  readContext,
  withContext,
} from '../params.js';
import { filtersParam, matchesFilters } from '../views/program-filters.js';
import { invalidParams } from '../rpc-error.js';
import { isTokenAccountOf, parsedTokenAccount, TOKEN_PROGRAMS } from '../views/token-accounts.js';

const MAX_ADDRESSES = 100;
/** The largest account that the runtime allows. */
const MAX_ACCOUNT_BYTES = 10 * 1024 * 1024;

const readConfig = z.object({ ...contextFields, ...accountViewFields }).nullish();
const programConfig = z
  .object({
    ...contextFields,
    ...accountViewFields,
    filters: filtersParam.nullish(),
    withContext: z.boolean().nullish(),
  })
  .nullish();
const tokenFilter = z.union([z.object({ mint: addressParam }), z.object({ programId: addressParam })]);

export function accountMethods(ledger: Ledger): RpcMethods {
  const show = (account: AccountState, view: AccountView, finalized: boolean): Json =>
    accountJson(
      account,
      view,
      view.encoding === 'jsonParsed'
        ? parsedTokenAccount(account, (address) => ledger.account(address, finalized))
        : undefined,
    );

  const list = (
    found: readonly { address: Uint8Array; account: AccountState }[],
    view: AccountView | null | undefined,
    finalized: boolean,
  ): Json[] =>
    found.map(({ address, account }) => ({
      pubkey: bs58.encode(address),
      account: show(account, view ?? {}, finalized),
    }));

  return {
    getAccountInfo: rpcMethod(z.tuple([addressParam, readConfig]), ([address, config]) => {
      const context = readContext(ledger.now(), config);
      const account = ledger.account(address, context.finalized);
      return withContext(context, account === null ? null : show(account, config ?? {}, context.finalized));
    }),

    getMultipleAccounts: rpcMethod(
      z.tuple([
        z.array(addressParam).max(MAX_ADDRESSES, `Too many inputs provided; max ${MAX_ADDRESSES}`),
        readConfig,
      ]),
      ([addresses, config]) => {
        const context = readContext(ledger.now(), config);
        const accounts = addresses.map((address) => ledger.account(address, context.finalized));
        return withContext(
          context,
          accounts.map((account) =>
            account === null ? null : show(account, config ?? {}, context.finalized),
          ),
        );
      },
    ),

    getBalance: rpcMethod(z.tuple([addressParam, contextConfig]), ([address, config]) => {
      const context = readContext(ledger.now(), config);
      return withContext(context, ledger.account(address, context.finalized)?.lamports ?? 0n);
    }),

    getProgramAccounts: rpcMethod(z.tuple([addressParam, programConfig]), ([programId, config]) => {
      const context = readContext(ledger.now(), config);
      const found = ledger
        .programAccounts(programId, context.finalized)
        .filter(({ account }) => matchesFilters(account, config?.filters));
      const accounts = list(found, config, context.finalized);
      return config?.withContext === true ? withContext(context, accounts) : accounts;
    }),

    getTokenAccountsByOwner: rpcMethod(
      z.tuple([addressParam, tokenFilter, readConfig]),
      ([owner, filter, config]) => {
        const context = readContext(ledger.now(), config);
        const wanted = 'programId' in filter ? bs58.encode(filter.programId) : null;
        if (wanted !== null && !TOKEN_PROGRAMS.includes(wanted)) {
          throw invalidParams('Invalid param: unrecognized Token program id');
        }
        const programs = wanted === null ? TOKEN_PROGRAMS : [wanted];
        const mint = 'mint' in filter ? filter.mint : null;
        const found = programs
          .flatMap((program) => ledger.programAccounts(new PublicKey(program).toBytes(), context.finalized))
          .filter(({ account }) => isTokenAccountOf(account, owner, mint));
        return withContext(context, list(found, config, context.finalized));
      },
    ),

    getMinimumBalanceForRentExemption: rpcMethod(
      z.tuple([countParam.max(MAX_ACCOUNT_BYTES), contextConfig]),
      ([dataBytes]) => ledger.minimumBalance(dataBytes),
    ),
  };
}
