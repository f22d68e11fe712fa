/** What is wider than the page, or than the place that it stands in and cannot be scrolled: a line each. Runs in the page. */
export function tooWide(): readonly string[] {
  const widest = (index: Element): string => {
    const [widest] = [...index.querySelectorAll('*')].sort(
      (one, other) => other.getBoundingClientRect().right - one.getBoundingClientRect().right,
    );
    return widest?.outerHTML.slice(0, 120) ?? '';
  };
  const found: string[] = [];
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) found.push(`the page is ${scrollWidth} px wide, of ${clientWidth}`);
  for (const element of document.querySelectorAll('.panel, .page-header, .timeline-bar, .panel-area, dialog[open]'))
    if (element.scrollWidth > element.clientWidth + 1)
      found.push(
        `.${element.className} is ${element.scrollWidth} px wide, of ${element.clientWidth}: ${widest(element)}`,
      );
  for (const control of document.querySelectorAll('button, select, input, summary')) {
    const { left, right, width } = control.getBoundingClientRect();
    if (width > 0 && control.checkVisibility() && (left < -1 || right > clientWidth + 1))
      found.push(`out of the page: ${control.outerHTML.slice(0, 100)}`);
  }
  return found;
}
