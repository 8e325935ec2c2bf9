/** The next instruction after a jump: a later label, or the following instruction. */
type Target = string | undefined;

interface Instruction {
  code: number;
  value: number;
  whenTrue: Target;
  whenFalse: Target;
}

const LOAD_WORD = 0x20;
const AND = 0x54;
const JUMP = 0x05;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_GREATER = 0x25;
const RETURN = 0x06;
const BYTES_PER_INSTRUCTION = 8;
const FARTHEST_JUMP = 255;

/**
 * Assembles a program for the kernel's classic BPF machine (linux/filter.h), as seccomp takes it. Jumps go forward to labels.
 * A missing target is the next instruction.
 */
export class BpfAssembler {
  readonly #instructions: Instruction[] = [];
  readonly #labels = new Map<string, number>();

  load(offset: number): this {
    return this.#add(LOAD_WORD, offset);
  }

  /** Keeps only the bits of a mask. */
  and(mask: number): this {
    return this.#add(AND, mask);
  }

  jumpIfEqual(value: number, whenTrue: Target, whenFalse?: Target): this {
    return this.#add(JUMP_IF_EQUAL, value, whenTrue, whenFalse);
  }

  /** Compares unsigned. */
  jumpIfGreater(value: number, whenTrue: Target, whenFalse?: Target): this {
    return this.#add(JUMP_IF_GREATER, value, whenTrue, whenFalse);
  }

  jump(target: string): this {
    return this.#add(JUMP, 0, target);
  }

  return(value: number): this {
    return this.#add(RETURN, value);
  }

  label(name: string): this {
    if (this.#labels.has(name)) throw new Error(`the label ${name} is there twice`);
    this.#labels.set(name, this.#instructions.length);
    return this;
  }

  /**
   * The program as the kernel reads it, in the byte order of x86_64 and aarch64.
   * @throws Error for a jump backwards, too far, or to a missing label.
   */
  assemble(): Buffer {
    const program = Buffer.alloc(this.#instructions.length * BYTES_PER_INSTRUCTION);
    for (const [at, { code, value, whenTrue, whenFalse }] of this.#instructions.entries()) {
      const offset = at * BYTES_PER_INSTRUCTION;
      program.writeUInt16LE(code, offset);
      if (code === JUMP) {
        program.writeUInt32LE(this.#distance(at, whenTrue), offset + 4);
        continue;
      }
      program.writeUInt8(this.#distance(at, whenTrue), offset + 2);
      program.writeUInt8(this.#distance(at, whenFalse), offset + 3);
      program.writeUInt32LE(value, offset + 4);
    }
    return program;
  }

  #add(code: number, value: number, whenTrue?: Target, whenFalse?: Target): this {
    this.#instructions.push({ code, value, whenTrue, whenFalse });
    return this;
  }

  #distance(from: number, target: Target): number {
    if (target === undefined) return 0;
    const distance = (this.#labels.get(target) ?? -1) - from - 1;
    if (distance < 0 || distance > FARTHEST_JUMP) throw new Error(`no jump from ${from} to ${target}`);
    return distance;
  }
}
