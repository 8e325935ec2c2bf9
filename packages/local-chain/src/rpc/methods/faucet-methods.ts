import bs58 from 'bs58';
import * as z from 'zod';
import { MAX_AIRDROP_LAMPORTS } from '../../ledger/faucet.js';
import type { FaucetPayment, Ledger } from '../../ledger/ledger.js';
import { MAX_USDC_GRANT } from '../../ledger/test-usdc.js';
import { describeTransactionError } from '../../ledger/transactions/transaction-error.js';
import { rpcMethod, type RpcMethods } from '../dispatcher.js';
import { addressParam, contextFields, countParam } from '../params.js';
import { RpcError } from '../rpc-error.js';

/** Methods that give test money to a wallet. They answer with the signature of the transaction. */
export function faucetMethods(ledger: Ledger): RpcMethods {
  return {
    requestAirdrop: rpcMethod(
      z.tuple([
        addressParam,
        countParam.max(MAX_AIRDROP_LAMPORTS, `at most ${MAX_AIRDROP_LAMPORTS} lamports per request`),
        z.object({ ...contextFields, recentBlockhash: z.string().nullish() }).nullish(),
      ]),
      ([recipient, lamports]) => signatureOf(ledger.airdrop(recipient, lamports)),
    ),

    /** Test USDC, as a whole number of its smallest unit: 1,000,000 are one USDC. No real cluster has this method. */
    localchain_airdropUsdc: rpcMethod(
      z.tuple([addressParam, countParam.max(MAX_USDC_GRANT, `at most ${MAX_USDC_GRANT} units per request`)]),
      ([wallet, amount]) => signatureOf(ledger.grantUsdc(wallet, amount)),
    ),
  };
}

function signatureOf({ signature, submission }: FaucetPayment): string {
  if (submission.err !== null) {
    throw new RpcError('internalError', `airdrop failed: ${describeTransactionError(submission.err)}`);
  }
  return bs58.encode(signature);
}
