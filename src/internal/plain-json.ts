import { firstChars } from '../../machines/text/clip.ts';

/** The limits of one context or event, so that a large one does not block the observed program. */
const LIMITS = { depth: 50, values: 100_000, chars: 1_000_000 };
const CUT = '[…]';

/**
 * Returns a value as JSON, for display. Other values are described: a Map becomes its entries, an Error its name and message, an
 * actor its id. Never throws.
 */
export function plainJson(value: unknown, limits = LIMITS): unknown {
  let values = 0;
  let chars = 0;
  const path = new Set<object>();

  function convert(value: unknown): unknown {
    values += 1;
    if (values > limits.values || chars > limits.chars) return CUT;
    if (typeof value === 'string') {
      chars += value.length;
      return chars > limits.chars ? `${firstChars(value, limits.chars)}${CUT}` : value;
    }
    if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
    if (typeof value === 'bigint') return `${value}n`;
    if (typeof value === 'function') return `[function ${value.name}]`;
    if (typeof value === 'symbol') return String(value);
    if (typeof value !== 'object' || value === null) return value;
    if (path.has(value)) return '[circular]';
    if (path.size >= limits.depth) return CUT;
    path.add(value);
    try {
      return convertObject(value);
    } catch {
      return '[unreadable]';
    } finally {
      path.delete(value);
    }
  }

  function convertObject(value: object): unknown {
    if (Array.isArray(value)) return value.map((item) => convert(item) ?? null);
    if (value instanceof Map || value instanceof Set) return [...value].map((item) => convert(item) ?? null);
    if (value instanceof Error) return { name: value.name, message: value.message, ...members(value) };
    if (value instanceof RegExp || value instanceof Promise) return String(value);
    if (ArrayBuffer.isView(value)) return `[${value.constructor.name} of ${value.byteLength} bytes]`;
    if ('toJSON' in value && typeof value.toJSON === 'function') return convert(value.toJSON());
    return members(value);
  }

  function members(value: object): Readonly<Record<string, unknown>> {
    const plain = Object.entries(value).flatMap(([name, member]) => {
      chars += name.length;
      const json = name === '__proto__' ? undefined : convert(member);
      return json === undefined ? [] : [[name, json] as const];
    });
    return Object.fromEntries(plain);
  }

  return convert(value);
}
