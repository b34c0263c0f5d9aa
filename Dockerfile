# Runs `npm start` as an ordinary user; everything it needs is installed and built in the image.
FROM node:20-slim
WORKDIR /parley
RUN chown node:node /parley
USER node
COPY --chown=node:node . .
RUN node scripts/setup.mjs && rm -rf ~/.npm
CMD ["npm", "start"]
