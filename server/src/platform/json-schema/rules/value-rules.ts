import { canonicalJson } from '@agent-rental/contract/canonical-json';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { DRAFT } from '../dialect.js';
import type { Check } from '../evaluation.js';
import type { SchemaPlace } from '../schema-place.js';

const TYPES: readonly unknown[] = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];

/** `type` */
export function typeRule(place: SchemaPlace): Check | undefined {
  const given = place.get('type');
  if (given === undefined) return undefined;
  const types: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (
    types.length === 0 ||
    types.some((type) => !TYPES.includes(type)) ||
    new Set(types).size < types.length
  ) {
    place.wrong('type', `must be one of ${TYPES.join(', ')}, or a list of them`);
  }
  const message = `must be ${types.join(',')}`;
  return (value, at, evaluation) =>
    types.includes(typeOf(value)) ||
    (types.includes('integer') && Number.isInteger(value)) ||
    evaluation.fail(at, message);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** `enum` and `const` */
export function listedValueRules(place: SchemaPlace): readonly Check[] {
  const checks: Check[] = [];
  const values = place.list('enum');
  if (values) checks.push(isOneOf(values, 'must be equal to one of the allowed values'));
  // `null` is a constant, too.
  if (place.get('const') !== undefined)
    checks.push(isOneOf([place.get('const')], 'must be equal to constant'));
  return checks;
}

function isOneOf(values: readonly unknown[], message: string): Check {
  const isWhole = (value: unknown) => typeof value === 'object' && value !== null;
  const scalars = new Set(values.filter((value) => !isWhole(value)));
  const texts = new Set(values.filter(isWhole).map((value) => canonicalJson(value)));
  return (value, at, evaluation) => {
    const isListed = isWhole(value) ? texts.size > 0 && texts.has(canonicalJson(value)) : scalars.has(value);
    return isListed || evaluation.fail(at, message);
  };
}

/** Bounds of numbers. */
export function numberRules(place: SchemaPlace): readonly Check[] {
  const checks: Check[] = [];
  const add = (message: string, isRight: (value: number) => boolean) =>
    checks.push(
      (value, at, evaluation) => typeof value !== 'number' || isRight(value) || evaluation.fail(at, message),
    );
  const minimum = bound(place, 'minimum', 'exclusiveMinimum');
  const maximum = bound(place, 'maximum', 'exclusiveMaximum');
  if (minimum.inclusive !== undefined) {
    const { inclusive } = minimum;
    add(`must be >= ${inclusive}`, (value) => value >= inclusive);
  }
  if (minimum.exclusive !== undefined) {
    const { exclusive } = minimum;
    add(`must be > ${exclusive}`, (value) => value > exclusive);
  }
  if (maximum.inclusive !== undefined) {
    const { inclusive } = maximum;
    add(`must be <= ${inclusive}`, (value) => value <= inclusive);
  }
  if (maximum.exclusive !== undefined) {
    const { exclusive } = maximum;
    add(`must be < ${exclusive}`, (value) => value < exclusive);
  }
  const divisor = place.number('multipleOf');
  if (divisor !== undefined) {
    if (divisor <= 0) place.wrong('multipleOf', 'must be more than 0');
    add(`must be multiple of ${divisor}`, (value) => isMultiple(value, divisor));
  }
  return checks;
}

/** In draft-04, the exclusive keyword is true beside the bound. */
function bound(place: SchemaPlace, keyword: string, exclusiveKeyword: string) {
  const given = place.number(keyword);
  const { age, isUnnamed } = place.dialect;
  const exclusive = place.get(exclusiveKeyword);
  if (typeof exclusive === 'boolean' && (age === DRAFT.four || isUnnamed)) {
    return exclusive ? { exclusive: given } : { inclusive: given };
  }
  if (exclusive !== undefined && age === DRAFT.four) {
    place.wrong(exclusiveKeyword, 'must be true or false in draft-04');
  }
  return { inclusive: given, exclusive: place.number(exclusiveKeyword) };
}

/** Exact, also for fractions, which no binary number has. */
function isMultiple(value: number, divisor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  const [digits, exponent] = decimal(value);
  const [divisorDigits, divisorExponent] = decimal(divisor);
  const shift = exponent - divisorExponent;
  return shift >= 0
    ? (digits * 10n ** BigInt(shift)) % divisorDigits === 0n
    : digits % (divisorDigits * 10n ** BigInt(-shift)) === 0n;
}

function decimal(value: number): [digits: bigint, exponent: number] {
  const [digits = '0', exponent = '0'] = Math.abs(value).toString().split('e');
  const [, fraction = ''] = digits.split('.');
  return [BigInt(digits.replace('.', '')), Number(exponent) - fraction.length];
}

/** Rules of texts. */
export function textRules(place: SchemaPlace): readonly Check[] {
  const checks: Check[] = [];
  const add = (message: string, isRight: (text: string) => boolean) =>
    checks.push(
      (value, at, evaluation) => typeof value !== 'string' || isRight(value) || evaluation.fail(at, message),
    );
  const least = place.count('minLength');
  const most = place.count('maxLength');
  if (least !== undefined) {
    add(`must NOT have fewer than ${least} characters`, (text) => charactersIn(text) >= least);
  }
  if (most !== undefined) {
    add(`must NOT have more than ${most} characters`, (text) => charactersIn(text) <= most);
  }
  const source = place.text('pattern');
  if (source !== undefined) {
    const pattern = place.maker.pattern(source, place.pointer);
    add(`must match pattern "${source}"`, pattern);
  }
  const format = formatRule(place.text('format'));
  if (format) checks.push(format);
  return checks;
}

/** Characters of Unicode, of which some have two places in a text. */
function charactersIn(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length - 1; at += 1) {
    if ((text.codePointAt(at) as number) > 0xffff) {
      count -= 1;
      at += 1;
    }
  }
  return count;
}

/** Formats whose built-in check takes quadratic time: `uri` is the standard's own. */
const UNCHECKED_FORMATS: readonly string[] = ['url'];

function formatRule(name: string | undefined): Check | undefined {
  if (name === undefined || UNCHECKED_FORMATS.includes(name) || !Object.hasOwn(fullFormats, name))
    return undefined;
  const format = fullFormats[name as keyof typeof fullFormats] as Format;
  if (format === true) return undefined;
  const { type = 'string', validate = format } =
    format instanceof RegExp || typeof format === 'function' ? {} : format;
  const isRight = (value: never) =>
    validate instanceof RegExp ? validate.test(value) : (validate as Validate)(value);
  return (value, at, evaluation) =>
    typeof value !== type || isRight(value as never) || evaluation.fail(at, `must match format "${name}"`);
}

type Validate = (value: never) => boolean;
/** A format of ajv-formats. */
type Format = true | RegExp | Validate | { type?: 'number'; validate: RegExp | Validate };
