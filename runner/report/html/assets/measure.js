/* What is known of each question in a scope: ranks of its gold by each contestant, and what counts as a hit. */
const goldOf = ragged("golds", "gold");
const kinds = column("type"), projects = column("project");
const measured = new Map();

function measure(scope) {
  if (!measured.has(scope)) {
    const at = data.scopes.indexOf(scope), from = starts(column("golds"));
    const ranks = data.contestants.map((_, number) => {
      const all = column(`ranks.${number}.${at}`);
      return Uint8Array.from({ length: all.n }, (_, i) => Math.min(255, all.value(i)));
    });
    measured.set(scope, { at, from, ranks });
  }
  return measured.get(scope);
}

function ranksOf(scope, number, question) {
  const { from, ranks } = measure(scope);
  return ranks[number].subarray(from[question], from[question + 1]);
}

function firstRank(scope, number, question) {
  let best = Infinity;
  for (const rank of ranksOf(scope, number, question)) if (rank && rank < best) best = rank;
  return best;
}

/* `any@10`: a gold segment among the first 10; `all@10`: every one of them. */
function isHit(scope, number, question, rule) {
  const [family, k] = rule.split("@"), within = (rank) => rank > 0 && rank <= Number(k);
  const ranks = ranksOf(scope, number, question);
  return family === "all" ? ranks.every(within) : ranks.some(within);
}

function outcome(scope, question, rule, against) {
  const own = isHit(scope, 0, question, rule), other = isHit(scope, against, question, rule);
  return own === other ? (own ? "both" : "neither") : own ? "won" : "lost";
}
