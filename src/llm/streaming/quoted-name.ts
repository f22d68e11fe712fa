import { clippedLine } from '../../../machines/text/clip.ts';

/** Returns the name of a tool in quotation marks, as messages to a model contain it: on one line of at most 60 characters. */
export const quotedName = (name: string): string => `“${clippedLine(name, 60)}”`;
