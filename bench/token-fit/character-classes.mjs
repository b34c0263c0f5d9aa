// Sorts Han characters, kana and Hangul syllables by the number of words of the vocabulary they are part of:
// the more, the more likely they join their neighbors in one token.

const hanSteps = [1, 3, 6, 12];
const kanaSteps = [4, 12];
const hangulSteps = [1, 3, 6, 12];
const longestWord = 4;

const han = /^[\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff]$/u;
const kana = /^[\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff]$/u;
const hangul = /^[\uac00-\ud7a3]$/u;

/**
 * Returns the members of class 1, 2, ... of each of the three, as strings. `vocabulary` is a list of tokens
 * as strings.
 */
export function characterClasses(vocabulary) {
  const counts = countMemberships(vocabulary);
  return {
    hanClasses: classes(counts, han, hanSteps),
    kanaClasses: classes(counts, kana, kanaSteps),
    hangulClasses: classes(counts, hangul, hangulSteps),
  };
}

function countMemberships(vocabulary) {
  const counts = new Map();
  for (const token of vocabulary) {
    const characters = [...token.trim()];
    const isHangul = characters.every((character) => hangul.test(character));
    if (!isHangul && !characters.every((character) => han.test(character) || kana.test(character))) continue;
    // A syllable that has a token together with the space in front starts words.
    const isWord = characters.length > 1 || (isHangul && token.startsWith(" "));
    if (!isWord || characters.length > longestWord) continue;
    for (const character of new Set(characters)) counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  return counts;
}

function classes(counts, script, steps) {
  const members = steps.map(() => []);
  for (const [character, count] of counts) {
    if (!script.test(character)) continue;
    const level = steps.filter((step) => count >= step).length;
    if (level > 0) members[level - 1].push(character);
  }
  return members.map((list) => list.sort().join(""));
}
