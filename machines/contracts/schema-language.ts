import * as z from 'zod/mini';
import en from 'zod/v4/locales/en.js';

/** Gives zod English messages, because zod/mini has none of its own. A language that the program has set stays. */
export function setSchemaLanguage(): void {
  if (z.config().localeError === undefined) z.config(en());
}
