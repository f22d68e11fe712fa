import { signal } from '@preact/signals';

/** The tabs of the selected step, in order; their shortcuts are 1, 2, … */
export const STEP_TABS = [
  { name: 'prompt', title: 'Prompt' },
  { name: 'reply', title: 'Reply' },
  { name: 'tools', title: 'Tools' },
  { name: 'why', title: 'Why' },
  { name: 'context', title: 'Context' },
  { name: 'raw', title: 'Raw' },
] as const;

export type StepTab = (typeof STEP_TABS)[number]['name'];

/** The tab that was chosen last. One that does not apply to the selection gives way to one that does. */
export const activePanel = signal<StepTab>('reply');

export function showPanel(name: StepTab): void {
  activePanel.value = name;
}
