import { type Values } from '../model/borsh.js';
import type { Meta } from '../model/call.js';
import type { InstructionName } from '../model/instruction-table.js';
import type { Tampering } from '../world/operations.js';
import type { AddressId } from '../world/universe.js';

/** An instruction before it is written: what an operation takes, with the arguments still apart. */
export interface Plan {
  name: InstructionName;
  args: Values;
  metas: Meta[];
  data: Buffer | null;
  tampered?: { id: AddressId; how: Tampering };
}
