/** Schemas from a generator with a fixed seed. They combine features in more places than the written ones. */
import type { CorpusEntry } from './entry.js';

type Json = Record<string, unknown>;

/** A schema, and a function that makes valid values. */
interface Made {
  readonly schema: Json;
  readonly example: () => unknown;
}

/** Mulberry32, a small random generator with the same numbers on every machine. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Names from real schemas, including keywords, names that are no identifiers, and inherited members of every object. */
const NAMES = [
  'amount currency customer_id due-date email items type properties required enum const description default $ref',
  'createdAt lines metadata notes options path percent query.text region status tags title unit url value x-trace',
  'größe línea 名前 @id $filter first~name a/b constructor toString valueOf then length',
].flatMap((line) => line.split(' '));

const FORMATS: Record<string, string> = {
  date: '2026-03-14',
  'date-time': '2026-03-14T09:26:53Z',
  time: '09:26:53Z',
  duration: 'P3DT2H',
  email: 'ada@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/a?b=c',
  uuid: '0b6f3f6e-2f53-4c8e-9d35-2a3cf2f3a0f1',
  'json-pointer': '/a/0',
  'x-internal': 'anything',
};

/** Patterns with an example each. Some need exponential time in backtracking engines, so no code may run them. */
const PATTERNS: Record<string, string> = {
  '^[A-Z]{2}[0-9]{6}$': 'AB123456',
  '^(a+)+$': 'aaaaaaaaaaaaaaaaaaaaaaaaaaaa',
  '^([a-zA-Z0-9]+\\s?)*$': 'one two three',
  '(x+x+)+y': 'xxxy',
  '^\\d{4}-\\d{2}-\\d{2}$': '2026-03-14',
  '^(?:[a-z0-9]+(?:-[a-z0-9]+)*)$': 'kebab-case-name',
};

const WORDS = ['draft', 'sent', 'paid', 'void', 'low', 'high', 'EUR', 'USD', 'a b', 'ü', '<none>'];

class Generator {
  readonly #next: () => number;
  readonly #definitions: Json = {};
  readonly #known: Made[] = [];

  constructor(seed: number) {
    this.#next = randomNumbers(seed);
  }

  /** A root: mostly an object, sometimes a choice of objects, or of an object and a text. */
  root(): Made {
    for (let count = this.#below(3); count > 0; count -= 1) this.#define();
    const made = this.#pick<() => Made>([
      () => this.#object(4),
      () => this.#object(4),
      () => this.#object(6),
      () => this.#tagged(3),
      () => this.#allOf(3),
      () => this.#choice([this.#object(3), { schema: { type: 'string' }, example: () => 'plain words' }]),
    ])();
    const definitions = Object.keys(this.#definitions).length > 0 ? { $defs: this.#definitions } : {};
    return { ...made, schema: { ...made.schema, ...definitions } };
  }

  #node(depth: number): Made {
    const leaves = [() => this.#text(), () => this.#number(), () => this.#flag(), () => this.#values()];
    const nests = [
      () => this.#object(depth - 1),
      () => this.#list(depth - 1),
      () => this.#tuple(depth - 1),
      () => this.#map(depth - 1),
      () => this.#tagged(depth - 1),
      () => this.#allOf(depth - 1),
      () => this.#nullable(depth - 1),
      () => this.#choice([this.#text(), this.#number()]),
      () => this.#choice([this.#text(), this.#list(depth - 1)]),
      () => this.#reference(),
    ];
    const made = this.#pick(depth > 0 && this.#chance(0.55) ? nests : leaves)();
    const said = this.#chance(0.4) ? { description: `The ${this.#pick(NAMES)} of it.` } : {};
    const extras = this.#chance(0.15) ? { title: 'A title', examples: ['not used'] } : {};
    return { ...made, schema: { ...made.schema, ...said, ...extras } };
  }

  #text(): Made {
    return this.#pick<() => Made>([
      () => ({ schema: { type: 'string' }, example: () => this.#pick(WORDS) }),
      () => ({ schema: { type: 'string', minLength: 1, maxLength: 40 }, example: () => this.#pick(WORDS) }),
      () => this.#fromTable('format', FORMATS),
      () => this.#fromTable('pattern', PATTERNS),
      () => ({ schema: { type: 'string', contentEncoding: 'base64' }, example: () => 'aGk=' }),
    ])();
  }

  #fromTable(keyword: string, table: Record<string, string>): Made {
    const key = this.#pick(Object.keys(table));
    return { schema: { type: 'string', [keyword]: key }, example: () => table[key] };
  }

  #number(): Made {
    return this.#pick<() => Made>([
      () => ({ schema: { type: 'integer', minimum: 0, maximum: 100 }, example: () => this.#below(101) }),
      () => ({ schema: { type: 'number', exclusiveMinimum: 0 }, example: () => 0.25 + this.#below(9) }),
      () => ({ schema: { type: 'number', multipleOf: 0.5 }, example: () => this.#below(9) / 2 }),
      () => ({ schema: { type: 'integer', default: 3 }, example: () => 1 - this.#below(9) }),
    ])();
  }

  #flag(): Made {
    return { schema: { type: 'boolean' }, example: () => this.#chance(0.5) };
  }

  /** Enumerations and constants, of every type and size. */
  #values(): Made {
    const values = this.#pick<() => unknown[]>([
      () => WORDS.slice(0, 4),
      () => [1, 2, 3],
      () => ['on', 'off', null],
      () => [true, 'auto'],
      () => ['', 'some'],
      () => Array.from({ length: 1_500 }, (_, index) => `code-${index}`),
    ])();
    if (this.#chance(0.3)) return { schema: { const: values[0] }, example: () => values[0] };
    const typed = values.every((value) => typeof value === 'string') && this.#chance(0.5);
    return {
      schema: { ...(typed ? { type: 'string' } : {}), enum: values },
      example: () => this.#pick(values),
    };
  }

  #object(depth: number): Made {
    const members = new Map<string, Made>();
    const count = 1 + this.#below(6);
    while (members.size < count) members.set(this.#pick(NAMES), this.#node(depth));
    const required = [...members.keys()].filter(() => this.#chance(0.5));
    const closed = this.#chance(0.4) ? { additionalProperties: false } : {};
    return {
      schema: {
        type: 'object',
        properties: Object.fromEntries(Array.from(members, ([name, { schema }]) => [name, schema])),
        ...(required.length > 0 ? { required } : {}),
        ...closed,
      },
      example: () => {
        const present = [...members].filter(([name]) => required.includes(name) || this.#chance(0.6));
        return Object.fromEntries(present.map(([name, { example }]) => [name, example()]));
      },
    };
  }

  #list(depth: number): Made {
    const item = this.#node(depth);
    const bounds = this.#chance(0.4) ? { minItems: 1, maxItems: 5 } : {};
    const length = () => 1 + this.#below(3);
    return {
      schema: { type: 'array', items: item.schema, ...bounds },
      example: () => Array.from({ length: length() }, () => item.example()),
    };
  }

  #tuple(depth: number): Made {
    const places = [this.#number(), this.#text(), this.#node(depth)];
    return {
      schema: { type: 'array', prefixItems: places.map(({ schema }) => schema), items: false, minItems: 3 },
      example: () => places.map(({ example }) => example()),
    };
  }

  #map(depth: number): Made {
    const value = this.#node(depth);
    const keys = this.#chance(0.5)
      ? { additionalProperties: value.schema, propertyNames: { pattern: '^k' } }
      : { patternProperties: { '^k': value.schema }, additionalProperties: false };
    return {
      schema: { type: 'object', ...keys },
      example: () => Object.fromEntries([1, 2].map((index) => [`k${index}`, value.example()])),
    };
  }

  /** A discriminated union, as type generators write it. */
  #tagged(depth: number): Made {
    const alternatives = ['card', 'transfer', 'cash'].map((kind) => {
      const own = this.#node(depth);
      return {
        schema: {
          type: 'object',
          properties: { kind: { const: kind }, [`${kind}_details`]: own.schema },
          required: ['kind', `${kind}_details`],
        },
        example: () => ({ kind, [`${kind}_details`]: own.example() }),
      };
    });
    return {
      schema: { oneOf: alternatives.map(({ schema }) => schema) },
      example: () => this.#pick(alternatives).example(),
    };
  }

  #allOf(depth: number): Made {
    const parts = ['base', 'extra'].map((name) => ({ name, made: this.#node(depth) }));
    return {
      schema: {
        allOf: parts.map(({ name, made }) => ({
          type: 'object',
          properties: { [name]: made.schema },
          required: [name],
        })),
      },
      example: () => Object.fromEntries(parts.map(({ name, made }) => [name, made.example()])),
    };
  }

  #nullable(depth: number): Made {
    const made = this.#node(depth);
    const example = () => (this.#chance(0.3) ? null : made.example());
    const { type } = made.schema;
    if (typeof type === 'string' && !('enum' in made.schema) && this.#chance(0.5)) {
      return { schema: { ...made.schema, type: [type, 'null'] }, example };
    }
    return { schema: { anyOf: [made.schema, { type: 'null' }] }, example };
  }

  #choice(alternatives: Made[]): Made {
    return {
      schema: { anyOf: alternatives.map(({ schema }) => schema) },
      example: () => this.#pick(alternatives).example(),
    };
  }

  #reference(): Made {
    return this.#known.length > 0 ? this.#pick(this.#known) : this.#text();
  }

  /** A definition. Every second one contains itself. */
  #define(): void {
    const name = `Part${this.#known.length}`;
    const $ref = `#/$defs/${name}`;
    const label = this.#text();
    const own = {
      type: 'object',
      properties: { label: label.schema, parts: { type: 'array', items: { $ref } }, next: { $ref } },
      required: ['label'],
    };
    const made = this.#chance(0.5)
      ? {
          schema: own,
          example: () => ({
            label: label.example(),
            parts: [{ label: label.example(), parts: [{ label: label.example() }] }],
            next: { label: label.example(), next: { label: label.example() } },
          }),
        }
      : this.#object(2);
    this.#definitions[name] = made.schema;
    this.#known.push({ schema: { $ref }, example: made.example });
  }

  #below(limit: number): number {
    return Math.floor(this.#next() * limit);
  }

  #chance(probability: number): boolean {
    return this.#next() < probability;
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[this.#below(choices.length)] as T;
  }
}

/** Schemas with the seeds 1 to `count`, each with three examples. */
export function generatedSchemas(count: number): CorpusEntry[] {
  return Array.from({ length: count }, (_, index) => {
    const { schema, example } = new Generator(index + 1).root();
    return { name: `generated, seed ${index + 1}`, schema, examples: [example(), example(), example()] };
  });
}
