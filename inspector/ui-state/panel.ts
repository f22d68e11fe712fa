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

/** The views of a whole run, which take the place of the step; the shortcuts of the first follow those of the tabs. */
export const RUN_VIEWS = [
  { name: 'act', title: 'Act' },
  { name: 'compare', title: 'Compare' },
  { name: 'what-if', title: 'What if' },
  { name: 'origins', title: 'Origins' },
] as const;

export type RunViewName = (typeof RUN_VIEWS)[number]['name'];
export type PanelName = StepTab | RunViewName;

/** The tab or the view that was chosen last. A tab that does not apply to the selection gives way to one that does. */
export const activePanel = signal<PanelName>('reply');

/** The id of the run that Compare shows beside the selected one. */
export const comparedWith = signal<string | null>(null);

export const isRunView = (name: PanelName): name is RunViewName => RUN_VIEWS.some((view) => view.name === name);

const NEED_SERVER: readonly PanelName[] = ['act', 'compare', 'what-if'];

export const isAvailable = (name: PanelName, connection: string): boolean =>
  connection !== 'file' || !NEED_SERVER.includes(name);

export function showPanel(name: PanelName): void {
  activePanel.value = name;
}
