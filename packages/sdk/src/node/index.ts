export { createWalletFile, readWalletFile, WalletFileError } from './wallet-file.js';
