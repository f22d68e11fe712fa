import { signal } from '@preact/signals';

/** The panels in order; their shortcuts are 1, 2, … */
export const PANELS = [
  { name: 'why', title: 'Why' },
  { name: 'output', title: 'Output' },
  { name: 'context', title: 'Context' },
  { name: 'events', title: 'Events' },
  { name: 'act', title: 'Act' },
  { name: 'compare', title: 'Compare' },
  { name: 'overlay', title: 'Overlay' },
] as const;

export type PanelName = (typeof PANELS)[number]['name'];

export const activePanel = signal<PanelName>('why');

export const isPanel = (name: unknown): name is PanelName => PANELS.some((panel) => panel.name === name);
