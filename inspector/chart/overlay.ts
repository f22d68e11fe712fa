/** What is laid over the states: by their ids, a number to show, and how much that is, from 0 to 1. */
export type Overlay = Readonly<Record<string, { readonly heat: number; readonly text: string }>>;

/** How a transition is called among those never taken. */
export function transitionKey(chartId: string, transition: number): string {
  return `${chartId} ${transition}`;
}
