import { signal } from '@preact/signals';
import { foundAt } from '../fold/origins.ts';
import type { Inspector, PanelView } from './inspector.ts';

/** A passage that was opened from words that it supports. */
interface SoughtPassage {
  /** An entry of its search, or a later one. */
  readonly seq: number;
  /** Its text, which may follow a line of headings. */
  readonly content: string;
  readonly phrase: string;
}

export const soughtPassage = signal<SoughtPassage | null>(null);

/** Selects the search that found a passage, and marks the words in it. */
export function showPassage(inspector: Inspector, { fold, count }: PanelView, passage: SoughtPassage): void {
  soughtPassage.value = passage;
  inspector.select(foundAt(fold, count, { ...passage, kind: 'passage' }));
}
