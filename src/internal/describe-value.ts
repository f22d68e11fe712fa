import { isThenable } from './async.ts';
import { cutEnd } from './printable.ts';

export function describeValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(cutEnd(value, 81));
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (isThenable(value)) return 'a Promise; await it';
  if (value instanceof Date) return 'a Date';
  if (typeof value === 'object' && value !== null)
    return `an object with ${Object.keys(value).slice(0, 5).join(', ') || 'no keys'}`;
  return String(value);
}
