// What a method that searches for offers promises, in about a kilobyte, as tools in the field write it.
export const OUTPUT_SCHEMA = {
  type: "object",
  properties: {
    query: { type: "string", minLength: 1, description: "What was searched for" },
    total: { type: "integer", minimum: 0, description: "How many offers there are in all" },
    offers: {
      type: "array",
      maxItems: 1000,
      items: {
        type: "object",
        properties: {
          id: { type: "string", minLength: 1, maxLength: 64 },
          title: { type: "string", maxLength: 200, description: "What is offered" },
          price: { type: "number", minimum: 0, description: "In the currency below" },
          currency: { enum: ["USD", "EUR", "GBP"] },
          tags: { type: "array", items: { type: "string" }, uniqueItems: true },
          inStock: { type: "boolean" },
          seller: {
            type: "object",
            properties: { name: { type: "string" }, rating: { type: "number", minimum: 0, maximum: 5 } },
            required: ["name"],
          },
        },
        required: ["id", "title", "price", "currency"],
        additionalProperties: false,
      },
    },
  },
  required: ["query", "total", "offers"],
  additionalProperties: false,
};

const offer = (i: number) => ({
  id: `offer-${i}`,
  title: `What is offered under the number ${i}`,
  price: i * 1.25,
  currency: "USD",
  tags: ["new", "shipped"],
  inStock: i % 2 === 0,
  seller: { name: "Somebody & Sons", rating: 4.5 },
});

// An answer of about so many bytes, whose last offer has no price that it may have.
export function answerOf(bytes: number) {
  const offers = [];
  for (let length = 60; length < bytes; length += JSON.stringify(offers.at(-1)).length + 1)
    offers.push(offer(offers.length));
  const [last] = offers.slice(-1);
  return { query: "offers", total: offers.length, offers: [...offers.slice(0, -1), { ...last, price: -1 }] };
}
