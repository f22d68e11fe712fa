import { isDigit, MINUS } from '../../internal/characters.ts';

/** How far a number is; it may end after `zero`, `digits`, `fraction` and `exponent`. */
export type NumberPhase = 'minus' | 'zero' | 'digits' | 'point' | 'fraction' | 'e' | 'sign' | 'exponent';

const [ZERO, POINT, PLUS, SMALL_E, LARGE_E] = [0x30, 0x2e, 0x2b, 0x65, 0x45];

const isE = (code: number): boolean => code === SMALL_E || code === LARGE_E;

export function beginNumber(code: number): NumberPhase | null {
  if (code === MINUS) return 'minus';
  if (code === ZERO) return 'zero';
  return isDigit(code) ? 'digits' : null;
}

/** Where a number is after one more character; null where that character is none of it. */
export function goOnInNumber(phase: NumberPhase, code: number): NumberPhase | null {
  switch (phase) {
    case 'minus':
      return code === MINUS ? null : beginNumber(code);
    case 'zero':
    case 'digits':
      if (isDigit(code)) return phase === 'digits' ? 'digits' : null;
      if (code === POINT) return 'point';
      return isE(code) ? 'e' : null;
    case 'point':
      return isDigit(code) ? 'fraction' : null;
    case 'fraction':
      if (isDigit(code)) return 'fraction';
      return isE(code) ? 'e' : null;
    case 'e':
      if (code === PLUS || code === MINUS) return 'sign';
      return isDigit(code) ? 'exponent' : null;
    default:
      return isDigit(code) ? 'exponent' : null;
  }
}

export function mayEndAt(phase: NumberPhase): boolean {
  return phase === 'zero' || phase === 'digits' || phase === 'fraction' || phase === 'exponent';
}

/** Whether a character can stand in a number at all. */
export function isNumeric(code: number): boolean {
  return isDigit(code) || isE(code) || code === POINT || code === PLUS || code === MINUS;
}
