import { BpfAssembler } from './bpf-assembler.js';
import { type ArgumentCheck, type SystemCallRule, systemCallRules } from './seccomp-policy.js';
import { type FilteredArchitecture, systemCallNumber } from './syscall-numbers.js';

// linux/audit.h
const AUDIT_ARCHITECTURE: Readonly<Record<FilteredArchitecture, number>> = {
  x64: 0xc000003e,
  arm64: 0xc00000b7,
};

// linux/seccomp.h: the answers of a filter, and the places of its data.
const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const FAIL_WITH = 0x00050000;
const NUMBER_OFFSET = 0;
const ARCHITECTURE_OFFSET = 4;
/** Both processors are little-endian. */
const argumentOffset = ({ argument, half = 'low' }: ArgumentCheck): number =>
  16 + argument * 8 + (half === 'high' ? 4 : 0);

const EPERM = 1;
const ENOSYS = 38;
/**
 * The first number that is the same on every processor. These calls came with Linux 5.1 and later. Programs have another way
 * where the kernel says that a call does not exist.
 */
const FIRST_NEW_SYSTEM_CALL = 424;
const ALL_BITS = 0xffff_ffff;

export function hasSeccompFilter(architecture: string): architecture is FilteredArchitecture {
  return Object.hasOwn(AUDIT_ARCHITECTURE, architecture);
}

/**
 * The filter of system calls around a hardened sandbox, as `bwrap --seccomp` reads it. It allows the calls in the rules. All
 * other calls fail: old ones with EPERM, later ones with ENOSYS. `clone3` fails, too, because a filter cannot see its
 * arguments; the C library then uses `clone`. A process that calls by another processor's table ends.
 */
export function seccompFilter(
  architecture: FilteredArchitecture,
  rules: readonly SystemCallRule[] = systemCallRules,
): Buffer {
  const program = new BpfAssembler()
    .load(ARCHITECTURE_OFFSET)
    .jumpIfEqual(AUDIT_ARCHITECTURE[architecture], 'number')
    .return(KILL_PROCESS)
    .label('number')
    .load(NUMBER_OFFSET);
  for (const rule of rules) addRule(program, rule, systemCallNumber(rule.name, architecture));
  return (
    program
      // Also the second table of x86_64 (x32), whose numbers have bit 30 set.
      .jumpIfGreater(FIRST_NEW_SYSTEM_CALL - 1, 'new')
      .return(FAIL_WITH | EPERM)
      .label('new')
      .return(FAIL_WITH | ENOSYS)
      .assemble()
  );
}

/** One rule. It answers a call with its number. For other calls the next rule follows, with the number still loaded. */
function addRule(program: BpfAssembler, { name, when }: SystemCallRule, number: number | null): void {
  if (number === null) return;
  const next = `after ${name}`;
  program.jumpIfEqual(number, undefined, next);
  if (when === undefined) {
    program.return(ALLOW).label(next);
    return;
  }
  for (const [at, checks] of when.entries()) {
    const other = `${name} not ${at}`;
    for (const [which, check] of checks.entries()) {
      const holds = `${name} ${at} ${which}`;
      program.load(argumentOffset(check));
      if (check.mask !== undefined && check.mask !== ALL_BITS) program.and(check.mask);
      for (const value of check.oneOf) program.jumpIfEqual(value, holds);
      program.jump(other).label(holds);
    }
    program.return(ALLOW).label(other);
  }
  program.return(FAIL_WITH | EPERM).label(next);
}
