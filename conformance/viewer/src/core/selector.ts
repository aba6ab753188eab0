// Label selectors: `a=b`, `a!=b`, `a`, `!a`, `a in (b,c)`, `a notin (b,c)`, joined by commas.

export type Labels = { readonly [key: string]: string };
export type Matches = (labels: Labels) => boolean;

export function selector(text: string | undefined): Matches {
  const requirements = split(text ?? "").map(requirement);
  return (labels) => requirements.every((matches) => matches(labels));
}

/** Splits at commas outside of parentheses. */
function split(text: string): string[] {
  return text.split(/,(?![^(]*\))/u).map((part) => part.trim()).filter((part) => part !== "");
}

function requirement(text: string): Matches {
  const among = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/u.exec(text);
  if (among) {
    const [, key = "", operator, list = ""] = among;
    const values = list.split(",").map((value) => value.trim());
    const isIn: Matches = (labels) => key in labels && values.includes(labels[key] ?? "");
    return operator === "in" ? isIn : (labels) => !isIn(labels);
  }
  const [key = "", value = ""] = text.split(/!?==?/u).map((part) => part.trim());
  if (text.startsWith("!")) return (labels) => !(text.slice(1).trim() in labels);
  if (text.includes("!=")) return (labels) => labels[key] !== value;
  if (text.includes("=")) return (labels) => key in labels && labels[key] === value;
  return (labels) => text in labels;
}
