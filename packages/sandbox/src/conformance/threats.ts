/**
 * Attempts of hostile code, as the rows of the table in docs/isolation.md. Every conformance case belongs to one threat. A
 * driver bounds a threat when all its cases apply to the driver.
 */
export const threats = [
  'network: TCP, UDP, DNS, unix sockets, metadata address',
  'files of the host',
  'environment',
  'the host behind stdio: its interfaces, addresses and process',
  'processes of the machine, `/proc`',
  'other sandboxes',
  'signals',
  'fork bomb',
  'thread bomb',
  'memory bomb',
  '20 memory bombs at once',
  'quotas of the whole machine',
  'filling the disk or its inodes',
  'output flood, endless line, input never read',
  "blocking the server's event loop with output",
  'busy loop',
  'prototype pollution',
  'forged protocol messages',
  'permission prompts, workers',
  'importing remote code and host files',
  'native code',
  'interfaces that reach the machine before they ask',
  'the path of the installation',
  'leftovers of the previous sandbox',
  'ending without an answer',
  'inherited file descriptors',
  'undoing what ends it with the server',
] as const;

export type Threat = (typeof threats)[number];
