import bs58 from 'bs58';
import { LocalChainError } from '../errors.js';
import { addressFromKey, addressKey, type AccountState, type AddressedAccount } from './account-state.js';
import type { Bank } from './bank.js';
import { upgradeableProgramAccounts, type DeployedProgram } from './upgradeable-program.js';

/**
 * Puts the restored accounts and the configured programs into a new bank. The code of configured programs always comes
 * from their files.
 * @throws LocalChainError `program_unusable` when the runtime refuses a configured program.
 */
export function loadBank(
  bank: Bank,
  programs: readonly DeployedProgram[],
  accounts: ReadonlyMap<string, AccountState | null>,
  onUnloadable: (address: string, error: unknown) => void,
): void {
  const deployed = programs.flatMap((program) =>
    upgradeableProgramAccounts(program, (dataBytes) => bank.minimumBalance(dataBytes)),
  );
  const deployedKeys = new Set(deployed.map(({ address }) => addressKey(address)));
  for (const restored of inLoadOrder(accounts)) {
    if (deployedKeys.has(addressKey(restored.address))) continue;
    try {
      bank.setAccount(restored);
    } catch (error) {
      onUnloadable(bs58.encode(restored.address), error);
    }
  }
  for (const { address, account } of deployed) {
    // Lamports that were sent to the program stay there.
    const kept = accounts.get(addressKey(address))?.lamports ?? 0n;
    const lamports = kept > account.lamports ? kept : account.lamports;
    try {
      bank.setAccount({ address, account: { ...account, lamports } });
    } catch (error) {
      const message = `program ${bs58.encode(address)} cannot be loaded: ${String(error)}`;
      throw new LocalChainError('program_unusable', message);
    }
  }
}

/** The order in which the runtime accepts accounts: a program after the one that holds its code. */
function inLoadOrder(accounts: ReadonlyMap<string, AccountState | null>): AddressedAccount[] {
  const listed = [...accounts].map(([key, account]) => ({ address: addressFromKey(key), account }));
  return [
    ...listed.filter(({ account }) => account?.executable !== true),
    ...listed.filter(({ account }) => account?.executable === true),
  ];
}
