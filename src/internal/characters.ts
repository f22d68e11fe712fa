/** The characters that JSON is made of, by their codes. */
export const SPACE = 0x20;
export const [QUOTE, BACKSLASH, COLON, COMMA, MINUS] = [0x22, 0x5c, 0x3a, 0x2c, 0x2d] as const;
export const [OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d] as const;

const [TAB, NEW_LINE, RETURN] = [0x09, 0x0a, 0x0d] as const;

/** White space as JSON knows it: no other character of Unicode counts. */
export const isSpace = (code: number): boolean =>
  code === SPACE || code === NEW_LINE || code === RETURN || code === TAB;

export const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
